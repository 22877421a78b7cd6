import type { Store } from '../parts/stores.ts'
import type { Upload } from './upload-list.ts'

/** The saved state of an unfinished upload. With it, the page recognises the file and continues the upload. */
export interface KeptUpload {
  readonly path: string
  readonly size: number
  /** In milliseconds since the epoch, by the clock of the user's device. */
  readonly modified: number
  /** The URL at which the upload continues. Undefined if no bytes were sent. */
  readonly address?: string | undefined
  /** The path with a number, if the address belongs to it. */
  readonly storedAs?: string | undefined
}

const mostKept = 2000

const isKept = (value: unknown): value is KeptUpload => {
  const { path, size, modified, address = '', storedAs = '' } = Object(value)
  const isText = [path, address, storedAs].every((text) => typeof text === 'string')
  return isText && [size, modified].every((figure) => typeof figure === 'number')
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Saves unfinished uploads for the tab. The page loses the files themselves in a reload, so the user must choose them
 * again.
 */
export const createKeptUploads = (store: Store, site: number) => {
  const key = `site-admin-uploads-${site}`
  return {
    read(): readonly KeptUpload[] {
      const found = parse(store.getItem(key) ?? '')
      return Array.isArray(found) ? found.filter(isKept).slice(0, mostKept) : []
    },
    write(
      interrupted: readonly KeptUpload[],
      uploads: readonly Pick<Upload, 'path' | 'file' | 'address' | 'storedAs'>[],
    ) {
      const left = uploads.slice(0, mostKept).map(({ path, file, address, storedAs }) => ({
        path,
        size: file.size,
        modified: file.lastModified,
        address,
        storedAs,
      }))
      const all = [...interrupted, ...left].slice(0, mostKept)
      if (all.length === 0) store.removeItem(key)
      else store.setItem(key, JSON.stringify(all))
    },
  }
}
