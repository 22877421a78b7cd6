import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Uploads } from '../uploads/uploads.ts'
import type { FilesStore } from './files-store.ts'

/** What the parts of the files' view work with. */
export interface FilesPage {
  readonly store: FilesStore
  readonly uploads: Uploads
  /** Whether the keyboard was in the list when it was left: then it is in the next one. */
  readonly keyboard: { isInList: boolean }
}

export const FilesContext = createContext<FilesPage | undefined>(undefined)

export const useFiles = (): FilesPage => {
  const files = useContext(FilesContext)
  if (!files) throw new Error('This is a part of the view of the files.')
  return files
}
