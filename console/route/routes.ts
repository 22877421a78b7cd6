import { computed, signal } from '@preact/signals'
import { decode } from './decode.ts'

/** A page of the console. The fragment of its address has this form: `#/1001/files/news/2026?file=a.html`. */
export interface Route {
  readonly site: number | undefined
  readonly view: string
  /** The segments of a folder, or the id of a form. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export const parseRoute = (hash: string): Route => {
  const text = hash.replace(/^#\/?/, '')
  const mark = text.indexOf('?')
  const [site = '', view = '', ...path] = (mark < 0 ? text : text.slice(0, mark)).split('/').map(decode)
  return {
    site: /^[1-9]\d{0,9}$/.test(site) ? Number(site) : undefined,
    view: view || 'files',
    path: path.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1))),
  }
}

/** Leaves out the empty members of the query. */
export const formatRoute = ({ site, view, path, query }: Route): string => {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given).toString()
  const parts = [String(site ?? ''), view, ...path].map(encodeURIComponent)
  return `#/${parts.join('/')}${search && `?${search}`}`
}

export const route = signal<Route>(parseRoute(''))

/** Returns a link that changes only the given members. A link to another view starts with an empty path and query. */
export const linkTo = (change: Partial<Route>): string => {
  const now = route.value
  const isElsewhere = change.view !== undefined && change.view !== now.view
  const isOtherPath = isElsewhere || change.path !== undefined
  return formatRoute({
    ...now,
    ...(isElsewhere && { path: [] }),
    ...(isOtherPath && { query: {} }),
    ...change,
  })
}

/**
 * `replace` adds no entry to the history of the browser. A component calls this in a layout effect, because a later effect
 * could change a newer address.
 */
export const goTo = (change: Partial<Route>, { replace = false } = {}): void => {
  const hash = linkTo(change)
  if (hash === location.hash) return
  if (replace) history.replaceState(null, '', hash)
  else history.pushState(null, '', hash)
  route.value = parseRoute(hash)
}

/** Back calls this, and does not leave the page. */
const held = signal<{ readonly onBack: () => void }>()

export const isHeld = computed(() => held.value !== undefined)

/** Until the returned function is called, Back only calls `onBack`, and the page stays. */
export const holdRoute = (onBack = () => {}): (() => void) => {
  held.value = { onBack }
  return () => {
    held.value = undefined
  }
}

/** `before` is called after every change of the address, and may change the address again. */
export const followAddress = (before: () => void): void => {
  const read = () => {
    before()
    const kept = formatRoute(route.value)
    if (!held.value) route.value = parseRoute(location.hash)
    else if (location.hash !== kept) {
      history.pushState(null, '', kept)
      held.value.onBack()
    }
  }
  addEventListener('hashchange', read)
  addEventListener('popstate', read)
  read()
}
