import type { Signal } from '@preact/signals'
import type { SiteClient } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import { nameTaken, nameTakenError } from '../parts/failure.tsx'
import type { createKeptUploads } from './kept-uploads.ts'
import { pathExists } from './path-exists.ts'
import { numbered } from './paths.ts'
import type { createUploadList, Upload } from './upload-list.ts'

export type Answer = 'replace' | 'both' | 'skip'

export interface UploadsOptions {
  readonly client: () => SiteClient
  readonly kept: ReturnType<typeof createKeptUploads>
  /** In milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly onFolderFailure?: (path: string, error: unknown, repeat: () => void) => void
}

/** After this many taken names, the failure is shown. */
const mostNumbers = 100
const fromStart = { sent: 0, address: undefined, storedAs: undefined }

const isTaken = (error: unknown): boolean => hasStatus(error, 412) || Object(error).code === nameTaken

export const giveUp = (client: UploadsOptions['client'], address: string | undefined): void => {
  // If this fails, the service removes the bytes later.
  if (address)
    client()
      .files.cancel(address)
      .catch(() => {})
}

export interface Shared extends UploadsOptions {
  readonly list: ReturnType<typeof createUploadList>
  // The key is the id of the upload, or the id of the group with a minus sign.
  readonly answers: Map<number, Answer>
  readonly rate: Signal<number>
  readonly keep: () => void
}

/** Sends one file, and decides what follows a failure. */
export const createSending = (shared: Shared, progress: (id: number, sent: number) => void) => {
  const { client, answers, keep, list } = shared
  const { change } = list

  const put = (upload: Upload, path: string, signal: AbortSignal, storedAs?: string) =>
    client().files.put(path, upload.file, {
      replace: upload.replace,
      signal,
      resume: upload.address,
      // A browser itself repeats a request whose connection broke, so the first attempt may have stored the file.
      mayBeStored: true,
      onProgress: ({ sent }) => progress(upload.id, sent),
      onBegun: (address) => {
        if (!list.get(upload.id)) return giveUp(client, address)
        change(upload.id, { address, storedAs })
        keep()
      },
      ...(upload.file.type && { contentType: upload.file.type }),
    })

  const storeUnderNewName = async (upload: Upload, signal: AbortSignal): Promise<string> => {
    for (let number = 2; ; number++) {
      const path = numbered(upload.path, number)
      try {
        await put(upload, path, signal, path)
        return path
      } catch (error) {
        if (!isTaken(error) || number > mostNumbers) throw error
      }
    }
  }

  const send = async (upload: Upload, signal: AbortSignal) => {
    const { id, group, path, address, storedAs } = upload
    const answer = answers.get(id) ?? answers.get(-group)
    // No bytes are sent while the user may still decide to skip the file.
    if (answer === 'skip' && (await pathExists(client(), path, true))) return change(id, { stage: 'skipped' })
    const isNumbered = answer === 'both' && answers.has(id) && !(address && storedAs)
    const stored = isNumbered ? await storeUnderNewName(upload, signal) : (storedAs ?? path)
    if (!isNumbered) await put({ ...upload, replace: upload.replace || answer === 'replace' }, stored, signal, storedAs)
    change(id, { stage: 'done', sent: upload.file.size, path: stored })
  }

  const fail = ({ id, group, address, storedAs }: Upload, error: unknown) => {
    const [own, forAll] = [answers.get(id), answers.get(-group)]
    if (!isTaken(error)) change(id, { stage: 'failed', error })
    else if (own === 'both' && address && storedAs) change(id, { stage: 'waiting', ...fromStart })
    else if (own) change(id, { stage: 'failed', ...fromStart, error: nameTakenError() })
    else if (forAll) {
      answers.set(id, forAll)
      change(id, { stage: forAll === 'skip' ? 'skipped' : 'waiting', ...fromStart })
    } else {
      change(id, { stage: 'asking', ...fromStart, error })
    }
  }

  return { send, fail }
}
