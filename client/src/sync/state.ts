import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

const version = 1
const largestState = 256 * 1024 ** 2

interface Target {
  readonly base?: readonly (readonly [string, SeenState])[]
  readonly uploads?: readonly (readonly [string, BegunUpload])[]
}
interface Stored {
  readonly version: number
  readonly written: number
  readonly files: readonly (readonly [string, Remembered])[]
  readonly targets: Readonly<Record<string, Target>>
}

const isStored = (value: unknown): value is Stored =>
  typeof value === 'object' &&
  value !== null &&
  'version' in value &&
  value.version === version &&
  'files' in value &&
  Array.isArray(value.files) &&
  'targets' in value &&
  typeof value.targets === 'object' &&
  value.targets !== null

const fileOf = (directory: string): string => join(directory, stateFolder, 'state.json')

/** What is stored, or undefined when there is nothing that can be used: then all is looked at anew. */
const load = async (directory: string): Promise<Stored | undefined> => {
  const file = fileOf(directory)
  const info = await stat(file).catch(() => undefined)
  if (!info?.isFile() || info.size > largestState) return undefined
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return isStored(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Errors: whatever comes of entries that are none. */
const stateOf = (stored: Stored | undefined, target: string): SyncState => {
  const own = stored && Object.hasOwn(stored.targets, target) ? stored.targets[target] : undefined
  return {
    base: own?.base && new Map(own.base),
    uploads: new Map(own?.uploads),
    remembered: new Map(stored?.files),
    written: stored?.written ?? 0,
  }
}

const readState = (stored: Stored | undefined, target: string): SyncState => {
  try {
    return stateOf(stored, target)
  } catch {
    return stateOf(undefined, target)
  }
}

/** The state of a folder (`.site-files/state.json`) for one place in a site, and how it is written. */
export const openState = async (directory: string, target: string) => {
  const stored = await load(directory)
  const state = readState(stored, target)

  /** Replaces the file as a whole: who is killed meanwhile leaves the old one. */
  const write = async (): Promise<void> => {
    const entry: Target = { ...(state.base && { base: [...state.base] }), uploads: [...state.uploads] }
    const next: Stored = {
      version,
      written: Date.now(),
      files: [...state.remembered],
      targets: { ...stored?.targets, [target]: entry },
    }
    await mkdir(join(directory, stateFolder), { recursive: true })
    const file = fileOf(directory)
    // Two runs at once must not write into one file.
    const temporary = join(directory, stateFolder, temporaryName())
    try {
      await writeFile(temporary, JSON.stringify(next), { mode: 0o600, flag: 'wx' })
      await rename(temporary, file)
    } finally {
      await rm(temporary, { force: true })
    }
  }
  let last: Promise<void> = Promise.resolve()
  /** Writes the state as it is then, one call after the other. */
  const save = (): Promise<void> => {
    last = last.then(write, write)
    return last
  }
  return { state, save }
}
