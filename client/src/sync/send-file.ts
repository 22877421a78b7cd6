import { readFile } from 'node:fs/promises'
import type { Files } from '../files.ts'
import { openFile } from '../node.ts'
import { ServiceError } from '../service-error.ts'
import { largestRequest, type UploadProgress } from '../upload.ts'
import { LocalRefusal } from './fetch-file.ts'
import { fingerprintOf } from './fingerprint.ts'
import { isUntouched, type LocalFile } from './local-tree.ts'
import type { Fingerprint } from './plan.ts'
import type { BegunUpload } from './state.ts'

export interface Sending {
  /** In the site. */
  readonly path: string
  /** The tag of the state that is replaced; undefined when there must be nothing. */
  readonly etag: string | undefined
  readonly onProgress: (progress: UploadProgress) => void
  readonly signal: AbortSignal | undefined
  /** Uploads that were begun, by path, and how they are kept. */
  readonly uploads: Map<string, BegunUpload>
  readonly save: () => Promise<void>
}

/** Whether a path of the site holds the bytes of a file of this machine. */
const holds = async (files: Files, path: string, { fingerprint }: LocalFile): Promise<boolean> => {
  const { fingerprint: there } = await files.stat(path)
  return typeof there === 'string' && fingerprint.includes(there)
}

const sendLarge = async (files: Files, file: LocalFile, { path, etag, uploads, save, ...sending }: Sending) => {
  // So no mixture of two states is put in place.
  const source = await openFile(file.location, async () => {
    if (!(await isUntouched(file))) {
      throw new LocalRefusal(`${path} has changed while it was sent. Repeat when nobody writes to it.`)
    }
  })
  const fingerprint = file.fingerprint.join(' ')
  const begun = uploads.get(path)
  const put = (resume?: string) =>
    files.put(path, source, {
      replace: etag ?? false,
      onProgress: sending.onProgress,
      ...(sending.signal && { signal: sending.signal }),
      ...(resume !== undefined && { resume }),
      async onBegun(address) {
        uploads.set(path, { address, fingerprint })
        await save()
      },
    })
  /** Goes on with an upload of before. It has the condition that it was begun under, and may have been put in place, and replaced since: then it is no use. */
  const resume = async (address: string): Promise<boolean> => {
    try {
      await put(address)
      return await holds(files, path, file)
    } catch (error) {
      if (error instanceof ServiceError && [404, 412].includes(error.status)) return false
      throw error
    }
  }
  try {
    const isResumed = begun?.fingerprint === fingerprint && (await resume(begun.address))
    if (!isResumed) await put()
  } finally {
    await source.close()
  }
  uploads.delete(path)
  return file.fingerprint
}

/** Sends a file of this machine under the condition that the plan was made for, and answers the fingerprint of what was sent. Errors: `ServiceError`; `LocalRefusal`; those of `node:fs`. */
export const sendFile = async (files: Files, file: LocalFile, sending: Sending): Promise<Fingerprint> => {
  if (file.size > largestRequest) return sendLarge(files, file, sending)
  const bytes = await readFile(file.location)
  if (bytes.length > largestRequest)
    throw new LocalRefusal(`${sending.path} has grown while it was looked at. Repeat when nobody writes to it.`)
  const { etag, onProgress, signal } = sending
  await files.put(sending.path, bytes, { replace: etag ?? false, onProgress, ...(signal && { signal }) })
  return fingerprintOf(bytes)
}
