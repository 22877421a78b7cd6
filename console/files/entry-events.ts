import type { FolderContent } from '../../client/src/index.ts'
import { join } from '../uploads/paths.ts'
import { dragTarget, dropOn, startDrag } from './drag.ts'
import type { FilesPage } from './files-context.ts'

/** A position of the window, in pixels. */
export interface Point {
  readonly x: number
  readonly y: number
}

export interface EntryProps {
  readonly entry: FolderContent
  readonly index: number
  readonly isChosen: boolean
  readonly isActive: boolean
  readonly onMenu: (at: Point) => void
}

/**
 * A click on an entry opens its link, unless the click changes the selection. The second click of a double click may hit
 * an entry of the folder that the first click has opened.
 */
export const keepSelecting = (event: MouseEvent): void => {
  if (event.detail > 1) event.stopPropagation()
  if (event.shiftKey || event.ctrlKey || event.metaKey || event.detail > 1) event.preventDefault()
}

export const entryEvents = (files: FilesPage, { entry, isChosen, isActive, onMenu }: EntryProps) => {
  const { store, rights } = files
  const { name, type } = entry
  const folder = store.folder.path.value
  const path = join(folder, name)
  const isCut = store.clipboard.value?.how === 'move' && store.clipboard.value.paths.includes(path)
  const selectOnly = () => {
    if (!store.folder.selection.value.chosen.has(name)) store.folder.choose(name, 'alone')
  }
  const looks = [
    isChosen && 'is-chosen',
    isActive && 'is-active',
    isCut && 'is-cut',
    dragTarget.value === path && 'is-target',
  ]
  return {
    path,
    selectOnly,
    looks: looks.filter(Boolean).join(' '),
    props: {
      'aria-selected': isChosen,
      draggable: rights.canWrite(folder),
      onDragStart(event: DragEvent) {
        selectOnly()
        startDrag(event, store.chosenPaths())
      },
      onClick({ shiftKey, ctrlKey, metaKey, target }: MouseEvent) {
        const isAdded = ctrlKey || metaKey || target instanceof HTMLInputElement
        store.folder.choose(name, shiftKey ? 'range' : isAdded ? 'toggle' : 'alone')
      },
      onContextMenu(event: MouseEvent) {
        event.preventDefault()
        selectOnly()
        onMenu({ x: event.clientX, y: event.clientY })
      },
      ...(type === 'folder' && dropOn(path, files)),
    },
  }
}
