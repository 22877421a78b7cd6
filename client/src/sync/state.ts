import { createHash } from 'node:crypto'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemCodeOf } from './disk-errors.ts'
import { stateFolder } from './ignored.ts'
import type { Remembered } from './local-tree.ts'
import { makeFolder } from './make-folder.ts'
import type { SeenState } from './plan.ts'
import { temporaryName } from './temporary.ts'

export interface BegunUpload extends Pick<Remembered, 'modified' | 'touched'> {
  readonly address: string
  readonly fingerprint: string
}

export interface SyncState {
  base: ReadonlyMap<string, SeenState> | undefined
  readonly uploads: Map<string, BegunUpload>
  /** The remembered state of the files of the folder, which all targets share. */
  readonly remembered: Map<string, Remembered>
  /** In milliseconds: when the scan of the remembered files began. */
  scanned: number
}

const version = 2
const largestState = 500 * 1024 ** 2

interface StoredFiles {
  readonly version: number
  readonly scanned: number
  readonly files: readonly (readonly [string, Remembered])[]
}

// Each target has its own file, because runs to several targets may be concurrent.
interface StoredTarget {
  readonly version: number
  readonly target: string
  readonly base?: readonly (readonly [string, SeenState])[]
  readonly uploads: readonly (readonly [string, BegunUpload])[]
}

const hasVersion = (value: unknown): boolean => Object(value).version === version

const areEntries = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry) => typeof entry?.[0] === 'string' && entry[1] instanceof Object)

const isFiles = (value: unknown): value is StoredFiles => hasVersion(value) && areEntries(Object(value).files)

const isTarget =
  (target: string) =>
  (value: unknown): value is StoredTarget =>
    hasVersion(value) &&
    Object(value).target === target &&
    areEntries(Object(value).uploads) &&
    areEntries(Object(value).base ?? [])

const filesOf = (directory: string): string => join(directory, stateFolder, 'files.json')
const targetOf = (directory: string, target: string): string =>
  join(directory, stateFolder, `target-${createHash('sha256').update(target).digest('hex').slice(0, 16)}.json`)

// `make` gets null if the file is unusable. Then everything is examined again, but the run does not count as the first.
const load = async <Stored, Result>(
  file: string,
  isStored: (value: unknown) => value is Stored,
  make: (stored: Stored | null | undefined) => Result,
): Promise<Result> => {
  const info = await stat(file).catch((error: unknown) => {
    if (systemCodeOf(error) !== 'ENOENT') throw error
  })
  if (!info) return make(undefined)
  if (!info.isFile() || info.size > largestState) return make(null)
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return make(isStored(value) ? value : null)
  } catch {
    return make(null)
  }
}

/** Replaces the file in one step, so that a killed process or a power cut leaves the old file. */
const replace = async (file: string, value: object): Promise<void> => {
  await makeFolder(dirname(file))
  const temporary = join(dirname(file), temporaryName())
  try {
    await writeFile(temporary, JSON.stringify(value), { mode: 0o600, flag: 'wx', flush: true })
    await rename(temporary, file)
  } finally {
    await rm(temporary, { force: true })
  }
}

export const openState = async (directory: string, target: string) => {
  const place = targetOf(directory, target)
  const own = await load(place, isTarget(target), (stored) => ({
    base: stored === null ? new Map() : stored?.base && new Map(stored.base),
    uploads: new Map(stored?.uploads),
  }))
  const known = await load(filesOf(directory), isFiles, (stored) => ({
    remembered: new Map(stored?.files),
    scanned: stored?.scanned ?? 0,
  }))
  const state: SyncState = { ...own, ...known }

  const write = async (): Promise<void> => {
    // Fails if the folder was removed meanwhile. Otherwise this would create the folder again.
    await stat(directory)
    const { base, uploads, remembered, scanned } = state
    const stored: StoredTarget = { version, target, ...(base && { base: [...base] }), uploads: [...uploads] }
    const files: StoredFiles = { version, scanned, files: [...remembered] }
    await replace(place, stored)
    await replace(filesOf(directory), files)
  }
  let last: Promise<void> = Promise.resolve()
  const save = (): Promise<void> => {
    last = last.then(write, write)
    return last
  }
  return { state, save }
}
