import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Lock files are empty, and SQLite derives the index of the WAL from the WAL. */
const isOfNoAccount = (path: string) => path.startsWith('locks') || path.endsWith('-shm')

/** The hash of each file of a directory, by path. No process may have the database open. */
export const snapshotOf = (directory: string): Readonly<Record<string, string>> => {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted()
  const entries = paths
    .filter((path) => !isOfNoAccount(path) && statSync(join(directory, path)).isFile())
    .map((path) => {
      const bytes = readFileSync(join(directory, path))
      return [path, createHash('sha256').update(bytes).digest('hex')] as const
    })
  return Object.fromEntries(entries)
}
