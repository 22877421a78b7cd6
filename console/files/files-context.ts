import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Rights } from '../page/rights.ts'
import type { Uploads } from '../uploads/uploads.ts'
import type { FilesStore } from './files-store.ts'

export interface FilesPage {
  readonly store: FilesStore
  readonly uploads: Uploads
  readonly rights: Rights
  /** True when the focus was in the list, so that the next list receives it. */
  readonly keyboard: { isInList: boolean }
}

export const FilesContext = createContext<FilesPage | undefined>(undefined)

export const useFiles = (): FilesPage => {
  const files = useContext(FilesContext)
  if (!files) throw new Error('useFiles() needs a FilesContext.')
  return files
}
