import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { DataDirectory } from '../directory/data-directory.ts'
import type { Finding } from '../directory/faults.ts'
import { pathOfBlob } from '../objects/blobs.ts'
import { blobsOfUploads } from '../objects/tidy-blobs.ts'
import { all, each, type Flag } from '../sqlite/queries.ts'
import { everyObject } from '../sqlite/tables.ts'
import { faultOfSize, notFile } from './verify-blobs.ts'

const questions: readonly (readonly [query: string, fault: string])[] = [
  [
    "SELECT key FROM objects WHERE substr(key, -1) = '/' AND (blob IS NOT NULL OR size <> 0)",
    'it is a folder, but has bytes',
  ],
  ["SELECT key FROM objects WHERE substr(key, -1) <> '/' AND blob IS NULL", 'it is a file, but has no bytes'],
  [
    `SELECT key FROM objects AS file WHERE substr(key, -1) <> '/' AND EXISTS (
       SELECT 1 FROM objects AS below WHERE below.key >= file.key || '/' AND below.key < file.key || '0')`,
    'it is a file, but has entries below it. Rename or delete the file: its entries stay.',
  ],
]

export interface ContentOwner {
  readonly key: string
  readonly isEarlier: Flag
}

interface Content extends ContentOwner {
  readonly blob: string
  readonly size: number
  readonly lengthInDatabase: number | null
}

const oldVersionLabel = 'an old version of'

const describe = ({ key, isEarlier }: ContentOwner): string => {
  const [, area, site, path] = /^([^/]*)\/([^/]*)\/(.*)$/s.exec(key) ?? []
  if (area === undefined) return isEarlier ? `${oldVersionLabel} ${key}` : key
  const file = `${area === 'live' ? 'file' : area} ${path}`
  return `site ${site}, ${isEarlier ? `${oldVersionLabel} the ${file}` : file}`
}

export const checkObjects = (connection: DatabaseSync): Finding[] =>
  questions.flatMap(([query, fault]) =>
    all(query, ({ key }: { key: string }) => ({ where: describe({ key, isEarlier: 0 }), fault }))(connection)(),
  )

// A new upload repairs a file, and the damaged file becomes an old version. An old version can be repaired only with
// its own bytes.
const adviceOnFile = 'Upload it again, or restore its bytes from a backup.'
const adviceOnOldVersion =
  'This version cannot be restored, but the current files of the site are complete. You need not do anything: the ' +
  'service removes the version after KEPT_DAYS (30 by default). If a backup contains that blob, you can copy the blob back.'

export const findingOfBytes = (owner: ContentOwner, damage: string): Finding => ({
  where: describe(owner),
  fault: `${damage}. ${owner.isEarlier ? adviceOnOldVersion : adviceOnFile}`,
})

export const namesOfBlobs = ({ blobs }: DataDirectory): ReadonlySet<string> => {
  try {
    return new Set(readdirSync(blobs))
  } catch {
    return new Set()
  }
}

const findingOf = ({ blobs }: DataDirectory, content: Content): Finding | undefined => {
  const { blob, size, lengthInDatabase } = content
  const file = pathOfBlob(blobs, blob)
  const stats = lengthInDatabase === null ? lstatSync(file, { throwIfNoEntry: false }) : undefined
  if (stats && !stats.isFile()) return findingOfBytes(content, `${notFile}: ${file}`)
  const found = lengthInDatabase ?? stats?.size
  if (found === undefined) return findingOfBytes(content, `its bytes are missing: ${file}`)
  return found === size ? undefined : findingOfBytes(content, `${faultOfSize(size, found)}: ${file}`)
}

// Unfinished uploads that lack bytes. They are not files of the sites, so a backup is made in spite of them.
const checkUploads = (connection: DatabaseSync, { blobs }: DataDirectory): readonly Finding[] =>
  all<{ where: string; kept: number; blob: string }>(
    `SELECT 'site ' || site || ', upload of ' || coalesce(iif(json_valid(target), target ->> '$.path', NULL), id) AS "where",
       kept, blob FROM uploads WHERE blob IS NOT NULL AND complete = 0 AND kept > 0`,
  )(connection)().flatMap(({ where, kept, blob }) => {
    const file = pathOfBlob(blobs, blob)
    const missing = kept - (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0)
    const fault =
      `${missing} of the ${kept} received bytes are missing: ${file}. The sender must start again. You need not do ` +
      'anything: the service removes the upload a day after its last bytes.'
    return missing > 0 ? [{ where, fault }] : []
  })

/** In a directory that is being served, a blob that no row refers to may belong to a running upload. */
export type CheckedUse = 'served' | 'at rest' | 'backup'

export const checkFiles = (
  connection: DatabaseSync,
  directory: DataDirectory,
  { before, use }: { readonly before: ReadonlySet<string>; readonly use: CheckedUse },
): readonly Finding[] => {
  const findings = checkObjects(connection)
  const contents = each<Content>(
    connection,
    `SELECT key, isEarlier, blob, size, length(small_contents.bytes) AS lengthInDatabase
     FROM (${everyObject}) LEFT JOIN small_contents ON small_contents.name = blob WHERE blob IS NOT NULL`,
  )
  const unclaimed = new Set(before)
  for (const content of contents) {
    unclaimed.delete(content.blob)
    const finding = findingOf(directory, content)
    if (finding) findings.push(finding)
  }
  findings.push(...checkUploads(connection, directory))
  for (const name of blobsOfUploads(connection)) unclaimed.delete(name)
  if (use === 'served') return findings
  const fault =
    use === 'backup' ? 'it belongs to no file.' : 'it belongs to no file. The next start moves it to orphans.'
  return [...findings, ...Array.from(unclaimed, (name) => ({ where: join(directory.blobs, name), fault }))]
}
