import { readFile } from 'node:fs/promises'
import type { Files } from '../files.ts'
import { openFile } from '../node.ts'
import type { Source } from '../source.ts'
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

/** The last bytes are given out only when the file is still the one that was looked at: so no mixture of two states is put in place. */
const guarded = (source: Source, file: LocalFile, path: string): Source => ({
  size: source.size,
  async slice(start, end) {
    const bytes = await source.slice(start, end)
    if (end >= source.size && !(await isUntouched(file)))
      throw new LocalRefusal(`${path} has changed while it was sent. Repeat when nobody writes to it.`)
    return bytes
  },
})

const sendLarge = async (files: Files, file: LocalFile, { path, etag, uploads, save, ...sending }: Sending) => {
  const source = await openFile(file.location)
  const fingerprint = file.fingerprint.join(' ')
  const begun = uploads.get(path)
  try {
    await files.put(path, guarded(source, file, path), {
      replace: etag ?? false,
      onProgress: sending.onProgress,
      ...(sending.signal && { signal: sending.signal }),
      ...(begun?.fingerprint === fingerprint && { resume: begun.address }),
      async onBegun(address) {
        uploads.set(path, { address, fingerprint })
        await save()
      },
    })
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
