import { chmodSync, constants, linkSync, type Stats } from 'node:fs'
import { copyFile, lstat, open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { inParallel } from '../../core/in-parallel.ts'
import { failureOf, isMissing, reasonOf, systemCodeOf } from '../../core/system-failures.ts'
import type { Damaged, Need } from '../check/byte-pass.ts'
import { type BlobContent, type BlobVerifier, notFile, openBlobVerifier } from '../check/verify-blobs.ts'
import { pathOfBlob } from '../objects/blobs.ts'
import { all } from '../sqlite/queries.ts'
import { everyObject, isInBlob } from '../sqlite/tables.ts'

export interface ReferredBlob extends BlobContent {
  readonly name: string
  readonly need: Need
}

/** The blobs of current and old versions and of uploads, each once. An upload without bytes needs no blob. */
export const blobsIn = (connection: DatabaseSync): readonly ReferredBlob[] =>
  all<ReferredBlob>(
    `SELECT blob AS name, max(size) AS size, max(fingerprint) AS fingerprint, iif(min(isEarlier), 'earlier', 'now') AS need
     FROM (${everyObject}) WHERE ${isInBlob} GROUP BY blob
     UNION ALL SELECT blob, kept, NULL, 'upload' FROM uploads WHERE blob IS NOT NULL AND complete = 0 AND kept > 0`,
  )(connection)()

interface Passage {
  readonly from: string
  readonly to: string
  /** A blob of this owner is linked, and any other blob is copied. If undefined, every blob is linked. */
  readonly owner: { readonly uid: number | undefined; readonly gid?: number } | undefined
  /** Also reads the bytes of linked blobs, which takes far longer than linking them. Copied bytes are always read. */
  readonly readsLinked: boolean
}

// Error codes of file systems without hard links, or without the right to make them.
const noLinks: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const isOf = (owner: NonNullable<Passage['owner']>, { uid, gid, mode }: Stats): boolean =>
  uid === owner.uid && (owner.gid === undefined || gid === owner.gid) && (mode & 0o777) === 0o600

const link = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (noLinks.has(systemCodeOf(error))) return false
    throw error
  }
}

// Copies a blob and flushes the copy. Only the user of this process can read the copy. Leaves out the bytes that an
// upload received after its size was read.
const copy = async (from: string, to: string, { need, size }: ReferredBlob): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
  await using file = await open(to, 'r+')
  if (need === 'upload' && (await file.stat()).size > size) await file.truncate(size)
  await file.sync()
}

const readFaultOf = async (path: string): Promise<string | undefined> => {
  try {
    await using file = await open(path)
    for await (const _ of file.createReadStream());
    return undefined
  } catch (error) {
    return `it cannot be read: ${reasonOf(error)}`
  }
}

// Links the blob if possible, because a complete blob never changes. Otherwise copies the blob. Returns the fault of
// the result, or undefined if there is none. Errors: those of the file system.
const takeBlob = async (
  { from: source, to: target, owner, readsLinked }: Passage,
  blob: ReferredBlob,
  verifier: BlobVerifier,
): Promise<string | undefined> => {
  const [from, to] = [pathOfBlob(source, blob.name), pathOfBlob(target, blob.name)]
  let isLinked = false
  try {
    const found = await lstat(from)
    if (!found.isFile()) return notFile
    const mayLink = blob.need !== 'upload' && (!owner || isOf(owner, found))
    isLinked = mayLink && link(from, to)
    if (!isLinked) await copy(from, to, blob)
  } catch (error) {
    if (isMissing(error)) return 'it is missing'
    // Access rights or a bad disk may prevent the read. If the blob can be read, the folder of the copy is at fault.
    const fault = failureOf(error) === 'full' ? undefined : await readFaultOf(from)
    if (fault === undefined) throw error
    return fault
  }
  return verifier.faultOf(to, isLinked && !readsLinked ? { ...blob, fingerprint: null } : blob)
}

const atOnce = 8

/** Returns the damaged blobs. Throws the reason of `signal` when it is aborted. */
export const takeBlobs = async (
  passage: Passage,
  blobs: readonly ReferredBlob[],
  signal: AbortSignal,
): Promise<readonly Damaged[]> => {
  const damaged: Damaged[] = []
  await using verifier = openBlobVerifier()
  await inParallel(blobs, atOnce, async (blob) => {
    signal.throwIfAborted()
    const fault = await takeBlob(passage, blob, verifier)
    if (fault !== undefined) damaged.push({ need: blob.need, where: pathOfBlob(passage.from, blob.name), fault })
  })
  return damaged
}
