import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Rows, rowHeight } from '../parts/rows.tsx'
import { texts } from '../texts/texts.ts'
import type { Column } from './arrange.ts'
import { commandsFor, runKey } from './commands.ts'
import { FileRow } from './file-row.tsx'
import { useFiles } from './files-context.ts'
import type { Folder } from './folder.ts'
import { useListFocus } from './list-focus.ts'
import type { SelectionMode } from './selection.ts'

const columns: readonly Column[] = ['name', 'size', 'lastModified']
/** In milliseconds: after this pause, a letter starts a new word. */
const pauseBetweenLetters = 800

// Returns true if the key moved through the list.
const walk = (folder: Folder, event: KeyboardEvent, page: number): boolean => {
  const by: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: Number.NEGATIVE_INFINITY,
    End: Number.POSITIVE_INFINITY,
  }
  const steps = by[event.key]
  if (steps === undefined || event.altKey) return false
  const manner: SelectionMode = event.shiftKey ? 'range' : event.ctrlKey || event.metaKey ? 'toggle' : 'alone'
  folder.step(steps, manner)
  return true
}

const Head = () => {
  const { store } = useFiles()
  const t = texts.value.files
  const { column: sorted, isDescending } = store.folder.order.value
  const chosen = store.folder.chosen.value.length
  const count = store.folder.shown.value.length
  return (
    <div role="row" aria-rowindex={1} class="row row-head">
      <span role="columnheader" class="cell-check">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={chosen > 0 ? t.clearSelection : t.list}
          checked={count > 0 && chosen === count}
          indeterminate={chosen > 0 && chosen < count}
          onClick={() => (chosen > 0 ? store.folder.clearSelection() : store.folder.chooseAll())}
        />
      </span>
      {columns.map((column) => (
        <span
          key={column}
          role="columnheader"
          class={{ name: 'cell-name', size: 'cell-size', lastModified: 'cell-date' }[column]}
          aria-sort={column === sorted ? (isDescending ? 'descending' : 'ascending') : undefined}
        >
          <button type="button" onClick={() => store.folder.sortBy(column)}>
            {t.columns[column]}
            {column === sorted && <Icon name={isDescending ? 'down' : 'up'} />}
          </button>
        </span>
      ))}
      <span role="columnheader" class="cell-more">
        <span class="unseen">{texts.value.more}</span>
      </span>
    </div>
  )
}

export const FileList = () => {
  const files = useFiles()
  const { store, keyboard } = files
  const { client } = usePage()
  const grid = useListFocus<HTMLDivElement>(keyboard)
  const typed = useRef({ text: '', at: 0 })
  const menu = useSignal<{ x: number; y: number } | undefined>(undefined)
  const { shown, selection } = store.folder
  const rows = shown.value
  const { active, chosen } = selection.value
  const index = active === undefined ? -1 : rows.findIndex(({ name }) => name === active)
  const height = rowHeight()

  const openMenu = () => {
    const row = grid.current?.querySelector('.row.is-active')?.getBoundingClientRect()
    if (row && chosen.size > 0) menu.value = { x: row.left + 60, y: row.bottom }
  }
  const seek = ({ key, timeStamp }: KeyboardEvent) => {
    const isNext = timeStamp - typed.current.at > pauseBetweenLetters
    typed.current = { text: (isNext ? '' : typed.current.text) + key, at: timeStamp }
    store.folder.seek(typed.current.text)
  }
  const take = (event: KeyboardEvent): boolean => {
    const page = Math.max(1, Math.floor((grid.current?.clientHeight ?? 400) / height) - 2)
    if (walk(store.folder, event, page) || runKey(files, event)) return true
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) openMenu()
    else if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return false
    else if (event.key === ' ' && active !== undefined) store.folder.choose(active, 'toggle')
    else seek(event)
    return true
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // The buttons in the header handle their own keys.
    if (!(event.target instanceof Element && event.target.matches('.grid'))) return
    if (take(event)) event.preventDefault()
  }
  return (
    <div
      ref={grid}
      role="grid"
      class="grid"
      tabIndex={0}
      aria-label={texts.value.files.list}
      aria-multiselectable="true"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={index >= 0 ? `file-${index}` : undefined}
      onKeyDown={onKeyDown}
      onClick={({ target }) => {
        // A click on a row moves the keyboard focus there.
        if (target instanceof Element && target.closest('.rows')) grid.current?.focus()
      }}
    >
      <Head />
      <Rows
        count={rows.length}
        height={height}
        active={index}
        row={(at, slot) => {
          const entry = rows[at]
          return (
            entry && (
              <FileRow
                key={slot}
                entry={entry}
                index={at}
                isChosen={chosen.has(entry.name)}
                isActive={entry.name === active}
                onMenu={(place) => {
                  menu.value = place
                }}
              />
            )
          )
        }}
      />
      {menu.value && (
        <Menu
          label={texts.value.more}
          items={commandsFor(files, client)}
          at={menu.value}
          onClose={() => {
            menu.value = undefined
          }}
        />
      )}
    </div>
  )
}
