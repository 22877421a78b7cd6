import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Moves the focus to the content of the page when the focused element was removed. */
export const focusContent = (): void => {
  const list = document.querySelector<HTMLElement>('.grid, .folder > .empty[tabindex]')
  const place = list ?? document.getElementById('content')
  place?.focus()
}

/** If a part of the page has the focus when the part disappears, the content gets the focus. */
export const useContentFocus = (box: RefObject<HTMLElement | null>): void =>
  useLayoutEffect(() => {
    const shown = box.current
    return () => {
      if (shown?.contains(document.activeElement)) focusContent()
    }
  }, [])

/** Keeps the focus in a part of the page when a button of this part disappears. The part needs a `tabIndex`. */
export const useRetainedFocus = <Shown extends HTMLElement>() => {
  const box = useRef<Shown>(null)
  const wasInside = box.current?.contains(document.activeElement)
  useLayoutEffect(() => {
    if (wasInside && document.activeElement === document.body) box.current?.focus()
  })
  return box
}
