import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { stateFolder } from './ignored.ts'
import type { Remembered } from './local-tree.ts'
import type { SeenState } from './plan.ts'
import { temporaryName } from './temporary.ts'

/** An upload that was begun and is not in place. */
export interface BegunUpload {
  readonly address: string
  /** Of the bytes that it is made of. */
  readonly fingerprint: string
}

/** What is kept of a folder and one place in a site. */
export interface SyncState {
  /** What the last push or pull saw; undefined when there was none. */
  base: ReadonlyMap<string, SeenState> | undefined
  /** By path in the site. */
  readonly uploads: Map<string, BegunUpload>
  /** What is remembered of files of the folder, whatever place they are sent to. */
  readonly remembered: Map<string, Remembered>
  /** When it was written, in milliseconds: what was changed right before may change once more without its time being another. */
  readonly written: number
}

/** Written when what is kept takes another form; what has another number counts as none. */
const version = 2
const largestState = 256 * 1024 ** 2

/** What is remembered of a folder. */
interface StoredFiles {
  readonly version: number
  readonly written: number
  readonly files: readonly (readonly [string, Remembered])[]
}

/** What is kept for one place in a site: in a file of its own, as runs to several places may go on at once. */
interface StoredTarget {
  readonly version: number
  readonly target: string
  readonly base?: readonly (readonly [string, SeenState])[]
  readonly uploads: readonly (readonly [string, BegunUpload])[]
}

const isOfVersion = (value: unknown): boolean => Object(value).version === version

const isFiles = (value: unknown): value is StoredFiles => isOfVersion(value) && Array.isArray(Object(value).files)

const isTarget =
  (target: string) =>
  (value: unknown): value is StoredTarget =>
    isOfVersion(value) && Object(value).target === target && Array.isArray(Object(value).uploads)

const filesOf = (directory: string): string => join(directory, stateFolder, 'files.json')
const targetOf = (directory: string, target: string): string =>
  join(directory, stateFolder, `target-${createHash('sha256').update(target).digest('hex').slice(0, 16)}.json`)

/** What is made of a file; of nothing where it is not there or cannot be used: then all is looked at anew. */
const load = async <Stored, Result>(
  file: string,
  isStored: (value: unknown) => value is Stored,
  make: (stored: Stored | undefined) => Result,
): Promise<Result> => {
  const info = await stat(file).catch(() => undefined)
  if (!info?.isFile() || info.size > largestState) return make(undefined)
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return make(isStored(value) ? value : undefined)
  } catch {
    return make(undefined)
  }
}

/** Replaces a file as a whole: who is killed meanwhile leaves the old one. */
const replace = async (file: string, value: object): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  // Two runs at once must not write into one file.
  const temporary = join(dirname(file), temporaryName())
  try {
    await writeFile(temporary, JSON.stringify(value), { mode: 0o600, flag: 'wx' })
    await rename(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** The state of a folder (in `.site-files/`) for one place in a site, and how it is written. */
export const openState = async (directory: string, target: string) => {
  const place = targetOf(directory, target)
  const own = await load(place, isTarget(target), (stored) => ({
    base: stored?.base && new Map(stored.base),
    uploads: new Map(stored?.uploads),
  }))
  const known = await load(filesOf(directory), isFiles, (stored) => ({
    remembered: new Map(stored?.files),
    written: stored?.written ?? 0,
  }))
  const state: SyncState = { ...own, ...known }

  const write = async (): Promise<void> => {
    const { base, uploads, remembered } = state
    const stored: StoredTarget = { version, target, ...(base && { base: [...base] }), uploads: [...uploads] }
    const files: StoredFiles = { version, written: Date.now(), files: [...remembered] }
    await replace(place, stored)
    await replace(filesOf(directory), files)
  }
  let last: Promise<void> = Promise.resolve()
  /** Writes the state as it is then, one call after the other. */
  const save = (): Promise<void> => {
    last = last.then(write, write)
    return last
  }
  return { state, save }
}
