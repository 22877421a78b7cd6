import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { Menu } from '../parts/menu.tsx'
import { setter } from '../parts/setter.ts'
import { texts } from '../texts/texts.ts'
import { commandsFor, runKey } from './commands.ts'
import type { Point } from './entry-events.ts'
import { useFiles } from './files-context.ts'
import type { Folder } from './folder.ts'
import { useListFocus } from './list-focus.ts'
import type { SelectionMode } from './selection.ts'

/** In milliseconds: after this pause, a letter starts a new word. */
const pauseBetweenLetters = 800

/** The number of lines that the page keys move by. */
const pageIn = (grid: HTMLElement | null): number => {
  const line = grid?.querySelector('.rows-seen > *')
  return grid && line ? Math.max(1, Math.floor(grid.clientHeight / line.clientHeight) - 2) : 1
}

/** Returns true if the key moved through the entries. `page` is the number of visible lines. */
const walk = (folder: Folder, event: KeyboardEvent, columns: number, page: number): boolean => {
  // Without an active entry, every arrow leads to the next entry.
  const line = folder.selection.value.active === undefined ? 1 : columns
  const by: Readonly<Record<string, number>> = {
    ArrowDown: line,
    ArrowUp: -line,
    ...(columns > 1 && { ArrowRight: 1, ArrowLeft: -1 }),
    PageDown: page * columns,
    PageUp: -page * columns,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  }
  const steps = by[event.key]
  if (steps === undefined || event.altKey) return false
  const manner: SelectionMode = event.shiftKey ? 'range' : event.ctrlKey || event.metaKey ? 'toggle' : 'alone'
  folder.step(steps, manner)
  return true
}

/** Shows the entries of the open folder in lines of one or more entries, with keys and menu. */
export const useEntries = (columns: number) => {
  const files = useFiles()
  const { store, keyboard } = files
  const { client } = usePage()
  const ref = useListFocus<HTMLDivElement>(keyboard)
  const typed = useRef({ text: '', at: 0 })
  const menuAt = useSignal<Point>()
  const rows = store.folder.shown.value
  const selection = store.folder.selection.value
  const { active, chosen } = selection
  const index = active === undefined ? -1 : rows.findIndex(({ name }) => name === active)
  const openMenu = (at: Point) => {
    menuAt.value = at
  }
  const openMenuByKey = () => {
    const place = ref.current?.querySelector('.is-active')?.getBoundingClientRect()
    if (place && chosen.size > 0) openMenu({ x: place.left + 60, y: place.bottom })
  }
  const seek = ({ key, timeStamp }: KeyboardEvent) => {
    const isNext = timeStamp - typed.current.at > pauseBetweenLetters
    typed.current = { text: (isNext ? '' : typed.current.text) + key, at: timeStamp }
    store.folder.seek(typed.current.text)
  }
  const take = (event: KeyboardEvent): boolean => {
    if (walk(store.folder, event, columns, pageIn(ref.current)) || runKey(files, event)) return true
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) openMenuByKey()
    else if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return false
    else if (event.key === ' ' && active !== undefined) store.folder.choose(active, 'toggle')
    else seek(event)
    return true
  }
  const box = {
    ref,
    class: 'rows grid',
    role: 'grid',
    tabIndex: 0,
    'aria-label': texts.value.files.list,
    'aria-multiselectable': true,
    'aria-activedescendant': index >= 0 ? `file-${index}` : undefined,
    onKeyDown(event: KeyboardEvent) {
      // The buttons in the header handle their own keys.
      if (!(event.target instanceof Element && event.target.matches('.grid'))) return
      if (take(event)) event.preventDefault()
    },
    onClick({ target }: MouseEvent) {
      // A click on an entry moves the keyboard focus there.
      if (target instanceof Element && target.closest('.rows-all')) ref.current?.focus()
    },
  } as const
  const menu = menuAt.value && (
    <Menu
      label={texts.value.more}
      items={commandsFor(files, client)}
      at={menuAt.value}
      onClose={setter(menuAt, undefined)}
    />
  )
  return { rows, selection, index, box, menu, openMenu }
}
