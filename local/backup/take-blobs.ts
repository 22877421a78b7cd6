import { chmodSync, constants, linkSync, type Stats } from 'node:fs'
import { copyFile, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inParallel } from '../../lib/in-parallel.ts'
import { type BlobContent, type BlobVerifier, openBlobVerifier } from './verify-blobs.ts'

/** A blob that a database refers to. */
export interface ReferredBlob extends BlobContent {
  readonly name: string
  /** Whether more may be written into it: that of an upload which is not complete. */
  readonly grows: boolean
  /** Whether nothing but earlier states of files refers to it: the sites as they are now do without it. */
  readonly isEarlier: boolean
}

/** The blobs of everything that is, was, or is being uploaded, each once. */
export const blobsIn = (connection: DatabaseSync): readonly ReferredBlob[] =>
  connection
    .prepare(
      `SELECT blob, max(size) AS size, max(fingerprint) AS fingerprint, 0 AS grows, min(is_earlier) AS is_earlier
       FROM (SELECT blob, size, fingerprint, 0 AS is_earlier FROM objects
         UNION ALL SELECT blob, size, fingerprint, 1 FROM old_objects)
       WHERE blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM small_contents WHERE name = blob) GROUP BY blob
       UNION ALL SELECT blob, kept, NULL, 1, 0 FROM uploads WHERE blob IS NOT NULL AND complete = 0 AND kept > 0`,
    )
    .all()
    .map(({ blob, size, fingerprint, grows, is_earlier }) => ({
      name: String(blob),
      size: Number(size),
      fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
      grows: grows === 1,
      isEarlier: is_earlier === 1,
    }))

/** A user, and a group where that is to be kept as well. */
interface BlobOwner {
  readonly uid: number | undefined
  readonly gid?: number
}

/** Where blobs are taken from, and where they go. */
interface Passage {
  readonly from: string
  readonly to: string
  /** Whose alone a blob must be to be linked; others are copied. Undefined where blobs may stay whose they are. */
  readonly owner: BlobOwner | undefined
  /** Whether the bytes of linked blobs are read as well, which takes far longer than to link them; those that were copied always are. */
  readonly readsLinked: boolean
}

/** File systems on which two names cannot stand for the same bytes, or which do not let this user do so. */
const noLinks: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

const isOf = (owner: BlobOwner, { uid, gid, mode }: Stats): boolean =>
  uid === owner.uid && (owner.gid === undefined || gid === owner.gid) && (mode & 0o777) === 0o600

/** A database may come from anywhere: it must not lead out of the folder. */
const blobName = /^[0-9a-f]{32}$/

/** Answers whether the blob has a second name now. */
const link = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (noLinks.has(codeOf(error))) return false
    throw error
  }
}

/** The copy is on the disk, for its user alone. What has come into an upload since its size was noted is left out. */
const copy = async (from: string, to: string, { grows, size }: ReferredBlob): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
  const file = await open(to, 'r+')
  try {
    if (grows && (await file.stat()).size > size) await file.truncate(size)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Takes a blob along: under a second name where that can be, as nothing is ever written into it again, and as a copy otherwise. Answers what is wrong
 * with what has arrived; undefined when nothing is. Errors: those of the file system.
 */
const takeBlob = async (
  { from: source, to: target, owner, readsLinked }: Passage,
  blob: ReferredBlob,
  verifier: BlobVerifier,
): Promise<string | undefined> => {
  if (!blobName.test(blob.name)) return 'it has a name that no blob has'
  const [from, to] = [join(source, blob.name), join(target, blob.name)]
  let isLinked = false
  try {
    const found = await lstat(from)
    if (!found.isFile()) return 'it is no file'
    const mayLink = !blob.grows && (!owner || isOf(owner, found))
    isLinked = mayLink && link(from, to)
    if (!isLinked) await copy(from, to, blob)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'it is missing'
    throw error
  }
  return verifier.faultOf(to, isLinked && !readsLinked ? { ...blob, fingerprint: null } : blob)
}

/** How many blobs are worked on at once: copies wait for the disk, and what verifies them is not to wait for the next one. */
const atOnce = 8

/** A blob that has not arrived as it should. */
export interface DamagedBlob {
  readonly name: string
  readonly fault: string
}

/** The blobs that have not arrived whole. */
export interface Damage {
  /** Those that the sites as they are now need. */
  readonly now: readonly DamagedBlob[]
  /** Those that only earlier states of files have. Nobody can mend them, and they are forgotten in time: they stop nothing. */
  readonly earlier: readonly DamagedBlob[]
}

/** Takes all blobs along. Answers those that have not arrived whole. Throws the reason of `signal` when that is aborted. */
export const takeBlobs = async (
  passage: Passage,
  blobs: readonly ReferredBlob[],
  signal: AbortSignal,
): Promise<Damage> => {
  const now: DamagedBlob[] = []
  const earlier: DamagedBlob[] = []
  const verifier = openBlobVerifier()
  try {
    await inParallel(blobs, atOnce, async (blob) => {
      signal.throwIfAborted()
      const fault = await takeBlob(passage, blob, verifier)
      if (fault === undefined) return
      // A name that leads elsewhere is no mere damage, whoever has it.
      const list = blob.isEarlier && blobName.test(blob.name) ? earlier : now
      list.push({ name: blob.name, fault })
    })
  } finally {
    await verifier.close()
  }
  return { now, earlier }
}
