import { chmodSync, constants, linkSync, type Stats } from 'node:fs'
import { copyFile, lstat, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { inParallel } from '../../lib/in-parallel.ts'
import { createFingerprint } from '../../lib/storage/fingerprint.ts'
import { isMissing } from '../data-directory.ts'

/** A blob that a database refers to. */
export interface ReferredBlob {
  readonly name: string
  /** Bytes. What an upload has left behind them belongs to nobody. */
  readonly size: number
  /** Null while it is not known. */
  readonly fingerprint: string | null
  /** Whether more may be written into it: that of an upload which is not complete. */
  readonly grows: boolean
}

/** The blobs of everything that is, was, or is being uploaded, each once. */
export const blobsIn = (connection: DatabaseSync): readonly ReferredBlob[] =>
  connection
    .prepare(
      `SELECT blob, max(size) AS size, max(fingerprint) AS fingerprint, 0 AS grows
       FROM (SELECT blob, size, fingerprint FROM objects UNION ALL SELECT blob, size, fingerprint FROM old_objects)
       WHERE blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM small_contents WHERE name = blob) GROUP BY blob
       UNION ALL SELECT blob, kept, NULL, 1 FROM uploads WHERE blob IS NOT NULL AND complete = 0 AND kept > 0`,
    )
    .all()
    .map(({ blob, size, fingerprint, grows }) => ({
      name: String(blob),
      size: Number(size),
      fingerprint: typeof fingerprint === 'string' ? fingerprint : null,
      grows: grows === 1,
    }))

/** What is wrong with bytes that do not have the fingerprint that they had. */
export const areOthers = 'its bytes are not those that were stored'

/** What is read at once, in bytes. */
const pieceSize = 1024 * 1024

/** The sentence on what is wrong with a blob; undefined when it is whole, as far as that is known. */
export const faultOfBlob = async (
  file: string,
  { size, fingerprint }: Pick<ReferredBlob, 'size' | 'fingerprint'>,
): Promise<string | undefined> => {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!handle) return 'it is missing'
  try {
    const found = (await handle.stat()).size
    if (found !== size) return `it has ${size} bytes, of which ${found} are there`
    if (fingerprint === null) return undefined
    const making = createFingerprint()
    const buffer = Buffer.allocUnsafeSlow(Math.min(pieceSize, size))
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length)
      if (bytesRead === 0) break
      making.update(buffer.subarray(0, bytesRead))
    }
    return making.digest() === fingerprint ? undefined : areOthers
  } finally {
    await handle.close()
  }
}

/** Where blobs are taken from, and where they go. */
interface Passage {
  readonly from: string
  readonly to: string
  /** Whether only blobs are linked that belong to this user alone: others are copied, and do then. */
  readonly ownOnly: boolean
}

/** File systems on which two names cannot stand for the same bytes, or which do not let this user do so. */
const noLinks: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

const isOwn = ({ uid, mode }: Stats): boolean => uid === process.getuid?.() && (mode & 0o777) === 0o600

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

/** The copy is on the disk, for its user alone. */
const copy = async (from: string, to: string, size: number): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
  const file = await open(to, 'r+')
  try {
    if ((await file.stat()).size > size) await file.truncate(size)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Takes a blob along: under a second name where that can be, as nothing is ever written into it again, and as a copy otherwise. Answers what is wrong
 * with what has arrived; undefined when nothing is. Errors: those of the file system.
 */
const takeBlob = async ({ from: source, to: target, ownOnly }: Passage, blob: ReferredBlob) => {
  if (!blobName.test(blob.name)) return 'it has a name that no blob has'
  const [from, to] = [join(source, blob.name), join(target, blob.name)]
  try {
    const found = await lstat(from)
    if (!found.isFile()) return 'it is no file'
    const mayLink = !blob.grows && (!ownOnly || isOwn(found))
    if (!(mayLink && link(from, to))) await copy(from, to, blob.size)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'it is missing'
    throw error
  }
  return faultOfBlob(to, blob)
}

/** How many blobs are worked on at once: copies wait for the disk. */
const atOnce = 4

/** A blob that has not arrived as it should. */
export interface DamagedBlob {
  readonly name: string
  readonly fault: string
}

/** Takes all blobs along. Answers those that have not arrived whole. Throws the reason of `signal` when that is aborted. */
export const takeBlobs = async (
  passage: Passage,
  blobs: readonly ReferredBlob[],
  signal: AbortSignal,
): Promise<readonly DamagedBlob[]> => {
  const damaged: DamagedBlob[] = []
  await inParallel(blobs, atOnce, async (blob) => {
    signal.throwIfAborted()
    const fault = await takeBlob(passage, blob)
    if (fault !== undefined) damaged.push({ name: blob.name, fault })
  })
  return damaged
}
