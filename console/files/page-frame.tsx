import { useEffect, useRef } from 'preact/hooks'

/** In milliseconds: after this time without a key, the page shows the new text. */
const pause = 300

/**
 * Shows a stored page in a frame without scripts and without the origin of the console (K-45). The console puts this
 * frame into `frame.html`. The policy of `frame.html` applies to the page: it loads nothing, except its own styles.
 */
export const PageFrame = ({ html, title }: { readonly html: string; readonly title: string }) => {
  const outer = useRef<HTMLIFrameElement>(null)
  const show = () => {
    const page = outer.current?.contentDocument
    if (!page?.body) return
    const inner = page.createElement('iframe')
    inner.setAttribute('sandbox', '')
    inner.title = title
    inner.srcdoc = html
    page.body.replaceChildren(inner)
  }
  useEffect(() => {
    const timer = setTimeout(show, pause)
    return () => clearTimeout(timer)
  }, [html])
  return <iframe ref={outer} title={title} src="console/frame.html" sandbox="allow-same-origin" onLoad={show} />
}
