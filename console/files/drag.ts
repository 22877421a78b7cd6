import { signal } from '@preact/signals'
import { notifyFailure } from '../parts/toasts.tsx'
import { fromDrop } from './dropped.ts'
import type { FilesStore } from './files-store.ts'
import { isWithin, parentOf } from './paths.ts'
import { relocateAndTell } from './told.ts'
import type { Uploads } from './uploads.ts'

/** How dragged paths are named, so that nothing else takes them for text. */
const type = 'application/x-site-admin-paths'

/** The folder that something is dragged over. */
export const dragTarget = signal<string | undefined>(undefined)

export const startDrag = (event: DragEvent, paths: readonly string[]): void => {
  event.dataTransfer?.setData(type, JSON.stringify(paths))
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove'
}

const holdsFiles = (data: DataTransfer): boolean => data.types.includes('Files')

const pathsOf = (data: DataTransfer): readonly string[] => {
  const value: unknown = JSON.parse(data.getData(type) || '[]')
  return Array.isArray(value) ? value.filter((path) => typeof path === 'string') : []
}

/** Makes an element a place to drop on: files from the device are uploaded, what is dragged of the list is moved, or copied with Ctrl. */
export const dropOn = (folder: string, store: FilesStore, uploads: Uploads) => ({
  onDragOver(event: DragEvent) {
    const data = event.dataTransfer
    if (!data || !(holdsFiles(data) || data.types.includes(type))) return
    event.preventDefault()
    event.stopPropagation()
    data.dropEffect = holdsFiles(data) || event.ctrlKey ? 'copy' : 'move'
    dragTarget.value = folder
  },
  onDragLeave(event: DragEvent) {
    const { currentTarget, relatedTarget } = event
    const isLeft = !(
      currentTarget instanceof Node &&
      relatedTarget instanceof Node &&
      currentTarget.contains(relatedTarget)
    )
    if (isLeft && dragTarget.value === folder) dragTarget.value = undefined
  },
  async onDrop(event: DragEvent) {
    const data = event.dataTransfer
    dragTarget.value = undefined
    if (!data || !(holdsFiles(data) || data.types.includes(type))) return
    event.preventDefault()
    event.stopPropagation()
    try {
      if (holdsFiles(data)) return uploads.add(await fromDrop(data), folder)
      const paths = pathsOf(data).filter((path) => parentOf(path) !== folder && !isWithin(folder, path))
      if (paths.length > 0) await relocateAndTell(store, event.ctrlKey ? 'copy' : 'move', paths, folder)
    } catch (error) {
      notifyFailure('', error)
    }
  },
})
