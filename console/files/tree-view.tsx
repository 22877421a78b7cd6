import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { Rows } from '../parts/rows.tsx'
import { attemptOrNotify } from '../parts/toasts.tsx'
import { goTo, linkTo } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { parentOf, partsOf } from '../uploads/paths.ts'
import { dragTarget, dropOn } from './drag.ts'
import { useFiles } from './files-context.ts'
import type { TreeRow } from './tree.ts'

export const TreeView = () => {
  const files = useFiles()
  const { store } = files
  const active = useSignal('')
  const t = texts.value.files
  const open = store.folder.path.value
  const rows = store.tree.rows.value
  const index = Math.max(
    0,
    rows.findIndex(({ path }) => path === active.value),
  )
  useEffect(() => {
    active.value = open
    store.tree.reveal(open).catch(() => {})
  }, [open])

  const toggle = (path: string) => attemptOrNotify(() => store.tree.toggle(path))
  const go = (row: TreeRow | undefined) => {
    if (row) active.value = row.path
  }
  const sideways = (key: string, row: TreeRow) => {
    const isForward = key === 'ArrowRight'
    if (isForward && !row.isOpen && row.mayOpen) toggle(row.path)
    else if (isForward) go(rows[index + 1])
    else if (row.isOpen && row.path !== '') toggle(row.path)
    else go(rows.find(({ path }) => path === parentOf(row.path)))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[index]
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return
    const openRow = () => goTo({ path: partsOf(row.path) })
    const ways: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(rows[index + 1]),
      ArrowUp: () => go(rows[index - 1]),
      Home: () => go(rows[0]),
      End: () => go(rows.at(-1)),
      ArrowRight: () => sideways('ArrowRight', row),
      ArrowLeft: () => sideways('ArrowLeft', row),
      Enter: openRow,
      ' ': openRow,
    }
    const way = ways[event.key]
    if (!way) return
    event.preventDefault()
    way()
  }
  return (
    <Rows
      box={{
        class: 'rows tree',
        role: 'tree',
        tabIndex: 0,
        'aria-label': t.folders,
        'aria-activedescendant': `tree-${index}`,
        onKeyDown,
      }}
      items={rows}
      active={index}
      row={({ path, name, level, isOpen, mayOpen }, at) => (
        <div
          key={path}
          id={`tree-${at}`}
          role="treeitem"
          aria-level={level}
          aria-selected={path === open}
          aria-expanded={mayOpen ? isOpen : undefined}
          class={`tree-row${at === index ? ' is-active' : ''}${dragTarget.value === path ? ' is-target' : ''}`}
          style={{ paddingInlineStart: `${(Math.min(level, 12) - 1) * 14 + 6}px` }}
          {...dropOn(path, files)}
        >
          <button
            type="button"
            tabIndex={-1}
            class={mayOpen ? 'tree-toggle' : 'tree-toggle is-hidden'}
            aria-hidden="true"
            onClick={() => toggle(path)}
          >
            <Icon name={isOpen ? 'down' : 'right'} />
          </button>
          <a tabIndex={-1} href={linkTo({ view: 'files', path: partsOf(path) })} title={name}>
            <Icon name="folder" />
            <bdi>{path === '' ? t.root : name}</bdi>
          </a>
        </div>
      )}
    />
  )
}
