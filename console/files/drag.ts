import { signal } from '@preact/signals'
import { notifyFailure } from '../parts/toasts.tsx'
import { fromDrop } from '../uploads/dropped.ts'
import { isWithin, parentOf } from '../uploads/paths.ts'
import type { FilesPage } from './files-context.ts'
import { notifyFailures, relocateAndNotify } from './notified-actions.ts'

// The dragged entries. The media type is unique to this tab, because another tab may drag paths of another site.
let dragged: { readonly type: string; readonly paths: readonly string[] } | undefined

export const dragTarget = signal<string>()

export const startDrag = (event: DragEvent, paths: readonly string[]): void => {
  dragged = { type: `application/x-site-admin-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`, paths }
  event.dataTransfer?.setData(dragged.type, 'paths')
  if (event.dataTransfer) event.dataTransfer.effectAllowed = 'copyMove'
}

const holdsFiles = (data: DataTransfer): boolean => data.types.includes('Files')

const pathsFor = (data: DataTransfer, folder: string): readonly string[] =>
  dragged && data.types.includes(dragged.type)
    ? dragged.paths.filter((path) => parentOf(path) !== folder && !isWithin(folder, path))
    : []

/**
 * Makes an element a drop target. Files of the device are uploaded; entries of the list are moved, or copied with Ctrl.
 */
export const dropOn = (folder: string, { store, uploads, rights }: FilesPage) => ({
  onDragOver(event: DragEvent) {
    const data = event.dataTransfer
    if (!data || !rights.canWrite(folder) || !(holdsFiles(data) || pathsFor(data, folder).length > 0)) return
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
    // The list may have changed under the pointer. Then this is not the folder that the page has highlighted.
    const isHighlighted = dragTarget.value === folder
    dragTarget.value = undefined
    if (!data) return
    const paths = pathsFor(data, folder)
    if (!holdsFiles(data) && paths.length === 0) return
    event.preventDefault()
    event.stopPropagation()
    if (!isHighlighted) return
    try {
      if (holdsFiles(data)) {
        const given = await fromDrop(data)
        uploads.add(given, folder)
        notifyFailures(given)
      } else await relocateAndNotify(store, event.ctrlKey ? 'copy' : 'move', paths, folder)
    } catch (error) {
      notifyFailure('', error)
    }
  },
})
