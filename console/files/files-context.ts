import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Uploads } from '../uploads/uploads.ts'
import type { FilesStore } from './files-store.ts'

/** Shared by the parts of the view. */
export interface FilesPage {
  readonly store: FilesStore
  readonly uploads: Uploads
  /** The keyboard focus was in the list, so it goes to the next list too. */
  readonly keyboard: { isInList: boolean }
}

export const FilesContext = createContext<FilesPage | undefined>(undefined)

export const useFiles = (): FilesPage => {
  const files = useContext(FilesContext)
  if (!files) throw new Error('This is a part of the view of the files.')
  return files
}
