import { open } from 'node:fs/promises'
import type { Files } from '../files.ts'
import { openFile } from '../node.ts'
import { hasStatus, ServiceError } from '../service-error.ts'
import { largestRequest } from '../source.ts'
import { pause } from '../transport.ts'
import type { UploadProgress } from '../upload.ts'
import { fingerprintOf } from './fingerprint.ts'
import { LocalRefusal } from './local-refusal.ts'
import { isSameState, isUnmodified, type LocalFile, stateOf } from './local-tree.ts'
import type { Fingerprint } from './plan.ts'
import type { BegunUpload } from './state.ts'

export interface Sending {
  readonly path: string
  /** The tag of the state that the upload replaces. If undefined, no file may exist. */
  readonly etag: string | undefined
  readonly onProgress: (progress: UploadProgress) => void
  readonly signal: AbortSignal | undefined
  /** Unfinished uploads by path. `save` stores them. */
  readonly uploads: Map<string, BegunUpload>
  readonly save: () => Promise<void>
}

const isIn = (fingerprint: Fingerprint, there: { readonly fingerprint?: string | null } | undefined): boolean =>
  typeof there?.fingerprint === 'string' && fingerprint.includes(there.fingerprint)

/** The listing of the site has only files, so an empty folder is noticed late. */
export class FolderInTheWay extends LocalRefusal {
  constructor(path: string) {
    super(
      `The folder ${path} of the site is in the way. Remove it with "rm" or "push --delete", or rename the file.`,
      true,
    )
  }
}

const isAlreadyStored = async (
  error: unknown,
  files: Files,
  path: string,
  fingerprint: Fingerprint,
): Promise<boolean> => {
  if (!hasStatus(error, 412)) return false
  const there = await files.stat(path).catch(() => undefined)
  if (there?.type === 'folder') throw new FolderInTheWay(path)
  return isIn(fingerprint, there)
}

const sendLarge = async (files: Files, file: LocalFile, { path, etag, uploads, save, ...sending }: Sending) => {
  const source = await openFile(file.location, async () => {
    if (!isUnmodified(file))
      throw new LocalRefusal(`${path} changed during the upload. Repeat the command when nobody writes to it.`)
  })
  const { modified, touched } = file
  const begun = uploads.get(path)
  const put = (resume?: string) =>
    files.put(path, source, {
      replace: etag ?? false,
      onProgress: sending.onProgress,
      ...(sending.signal && { signal: sending.signal }),
      ...(resume !== undefined && { resume }),
      async onBegun(address) {
        uploads.set(path, { address, fingerprint: file.fingerprint.join(' '), modified, touched })
        await save()
      },
    })
  /**
   * Continues an unfinished upload. The upload keeps its original condition, so the upload is useless if the file on
   * the site has changed since then.
   */
  const resume = async (address: string): Promise<boolean> => {
    try {
      await put(address)
      return isIn(file.fingerprint, await files.stat(path))
    } catch (error) {
      if (error instanceof ServiceError && [404, 412].includes(error.status)) return false
      throw error
    }
  }
  try {
    const isResumed = begun !== undefined && (await resume(begun.address))
    if (!isResumed) await put()
  } catch (error) {
    if (!(await isAlreadyStored(error, files, path, file.fingerprint))) throw error
  } finally {
    await source.close()
  }
  uploads.delete(path)
  return file.fingerprint
}

/** In milliseconds: within this time a file may change again without a new modification time. */
const coarseTime = 25
const mostReads = 10

const readUnchanging = async (file: LocalFile, { path, signal }: Sending): Promise<Uint8Array<ArrayBuffer>> => {
  const handle = await open(file.location)
  try {
    for (let look = 0; look < mostReads; look++) {
      const before = stateOf(await handle.stat())
      if (before.size > largestRequest)
        throw new LocalRefusal(`${path} grew during the upload. Repeat the command when nobody writes to it.`)
      if (Math.abs(Date.now() - before.modified) < coarseTime) await pause(coarseTime, signal)
      else {
        const bytes = Buffer.allocUnsafeSlow(before.size)
        const { bytesRead } = await handle.read(bytes, 0, before.size, 0)
        if (bytesRead === before.size && isSameState(before, stateOf(await handle.stat()))) return bytes
      }
    }
  } finally {
    await handle.close()
  }
  throw new LocalRefusal(`${path} keeps changing. Repeat the command when nobody writes to it.`)
}

const sendSmall = async (files: Files, file: LocalFile, sending: Sending): Promise<Fingerprint> => {
  const bytes = await readUnchanging(file, sending)
  const { path, etag, onProgress, signal } = sending
  const fingerprint = fingerprintOf(bytes)
  try {
    await files.put(path, bytes, { replace: etag ?? false, onProgress, ...(signal && { signal }) })
  } catch (error) {
    if (!(await isAlreadyStored(error, files, path, fingerprint))) throw error
  }
  return fingerprint
}

/**
 * Sends a file under the condition of the plan, and returns its fingerprint. Errors: `ServiceError`; `LocalRefusal`;
 * those of `node:fs`.
 */
export const sendFile = (files: Files, file: LocalFile, sending: Sending): Promise<Fingerprint> =>
  file.size > largestRequest ? sendLarge(files, file, sending) : sendSmall(files, file, sending)
