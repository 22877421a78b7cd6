import { mkdtempSync, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test as base } from 'vitest'
import { removeDirectory } from '../support/directory.ts'

/** Bytes that recordings and states take, with much to spare. */
const needed = 1024 ** 3

/** In memory where there is room: thousands of states are built and removed. */
const folderOfScratch = (): string => {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > needed ? '/dev/shm' : tmpdir()
  } catch {
    return tmpdir()
  }
}

export const makeScratch = (): string => mkdtempSync(join(folderOfScratch(), 'power-cuts-'))

/** Every file below a folder, with its bytes. SQLite makes the file -shm anew. */
export const contentsOf = (folder: string): ReadonlyMap<string, Buffer | undefined> => {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .map((entry) => [join(entry.parentPath, entry.name), entry] as const)
      .filter(([path]) => !path.endsWith('-shm'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, entry]) => [relative(folder, path), entry.isFile() ? readFileSync(path) : undefined]),
  )
}

/** Of `npm run prove`, or always the same. */
export const provedSeed = Number(process.env['PROVE_SEED'] ?? 20_261_125)

export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  .extend('scratch', async ({}, { onCleanup }) => {
    const scratch = makeScratch()
    onCleanup(() => removeDirectory(scratch))
    return scratch
  })
