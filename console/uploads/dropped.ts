import type { Outcome } from './for-each-path.ts'

/** A dropped or chosen file, and its path relative to the target folder: `photos/a.jpg`. */
export interface Dropped {
  readonly path: string
  readonly file: File
}

export interface Given {
  readonly files: readonly Dropped[]
  readonly emptyFolders: readonly string[]
}

export const fromInput = (list: FileList | null): Given => ({
  files: [...(list ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file })),
  emptyFolders: [],
})

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

const readSome = (reader: FileSystemDirectoryReader): Promise<readonly FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject))

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

const pathOf = (entry: FileSystemEntry): string => entry.fullPath.replace(/^\/+/, '')

// Browsers return the entries in portions.
async function* contentsOf(folder: FileSystemDirectoryEntry) {
  const reader = folder.createReader()
  for (let some = await readSome(reader); some.length > 0; some = await readSome(reader)) yield some
}

/**
 * Returns all dropped files, with the contents of folders, and what the device cannot read. Reads the entries
 * synchronously, because the browser forgets them after the event.
 */
export const fromDrop = async (data: DataTransfer): Promise<Given & Pick<Outcome, 'failed'>> => {
  const files: Dropped[] = []
  const emptyFolders: string[] = []
  const failed: { path: string; error: unknown }[] = []
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  if (entries.length === 0) return { ...fromInput(data.files), failed }
  const read = async (entry: FileSystemEntry): Promise<void> => {
    if (isFile(entry)) files.push({ path: pathOf(entry), file: await fileOf(entry) })
    else if (isFolder(entry)) {
      let isEmpty = true
      for await (const some of contentsOf(entry)) {
        isEmpty = false
        for (const each of some) await take(each)
      }
      if (isEmpty) emptyFolders.push(pathOf(entry))
    }
  }
  const take = async (entry: FileSystemEntry): Promise<void> => {
    try {
      await read(entry)
    } catch (error) {
      failed.push({ path: pathOf(entry), error })
    }
  }
  for (const entry of entries) await take(entry)
  return { files, emptyFolders, failed }
}
