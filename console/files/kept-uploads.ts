import type { Dropped } from './dropped.ts'

/** An upload that was not over when the page was left: enough to know the file again, and to go on with it. */
export interface KeptUpload {
  readonly path: string
  readonly size: number
  /** Of the file on the reader's device, in milliseconds. */
  readonly modified: number
  /** Where it goes on, when some of it was sent. */
  readonly address?: string | undefined
}

/** So many are kept at the most: the room that a browser gives is small. */
const mostKept = 2000

const isKept = (value: unknown): value is KeptUpload => {
  if (typeof value !== 'object' || value === null) return false
  const { path, size, modified, address }: Partial<Record<keyof KeptUpload, unknown>> = value
  return (
    typeof path === 'string' &&
    typeof size === 'number' &&
    typeof modified === 'number' &&
    (address === undefined || typeof address === 'string')
  )
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Keeps what is not over yet, for the tab: a reload forgets the files themselves, which only their reader can give again. */
export const createKeptUploads = (store: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>, site: number) => {
  const key = `site-admin-uploads-${site}`
  return {
    read(): readonly KeptUpload[] {
      const found = parse(store.getItem(key) ?? '')
      return Array.isArray(found) ? found.filter(isKept).slice(0, mostKept) : []
    },
    write(uploads: readonly KeptUpload[]) {
      try {
        if (uploads.length === 0) store.removeItem(key)
        else store.setItem(key, JSON.stringify(uploads.slice(0, mostKept)))
      } catch {
        // No room in the browser: then nothing of it survives a reload, and the upload itself goes on.
      }
    },
  }
}

const isSame = (kept: KeptUpload, { file, path }: Dropped): boolean =>
  kept.size === file.size &&
  kept.modified === file.lastModified &&
  (kept.path === path ||
    kept.path.endsWith(`/${path}`) ||
    kept.path.endsWith(`/${file.name}`) ||
    kept.path === file.name)

/** Finds the files again that their reader has given anew. */
export const match = (kept: readonly KeptUpload[], given: readonly Dropped[]) => {
  const left = [...given]
  const found: { readonly kept: KeptUpload; readonly file: File }[] = []
  const missing: KeptUpload[] = []
  for (const each of kept) {
    const index = left.findIndex((dropped) => isSame(each, dropped))
    const [dropped] = index < 0 ? [] : left.splice(index, 1)
    if (dropped) found.push({ kept: each, file: dropped.file })
    else missing.push(each)
  }
  return { found, missing }
}
