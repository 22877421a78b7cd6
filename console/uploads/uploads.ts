import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import { hasStatus } from '../../client/src/service-error.ts'
import type { Given } from './dropped.ts'
import { forEachPath } from './for-each-path.ts'
import type { KeptUpload } from './kept-uploads.ts'
import { join } from './paths.ts'
import { type Answer, createSending, giveUp, type Shared, type UploadsOptions } from './send-upload.ts'
import { createUploadList, isOpen, type Stage, type Totals, type Upload } from './upload-list.ts'
import { createProgress } from './upload-progress.ts'

export interface FoundUpload {
  readonly kept: KeptUpload
  readonly file: File
}

export interface Uploads {
  readonly all: ReadonlySignal<readonly Upload[]>
  readonly totals: ReadonlySignal<Totals>
  /** In bytes per second; 0 if unknown. */
  readonly rate: ReadonlySignal<number>
  readonly question: ReadonlySignal<Upload | undefined>
  /** The uploads that were active before the page was reloaded. */
  readonly interrupted: ReadonlySignal<readonly KeptUpload[]>
  add(given: Given, folder: string): void
  /** Continues the interrupted uploads whose files were found, and keeps the missing ones. */
  resumeFound(found: readonly FoundUpload[], missing: readonly KeptUpload[]): void
  forgetInterrupted(): void
  pause(id?: number): void
  /** Continues one paused upload, or all of them. Uploads that failed are tried again. */
  resume(id?: number): void
  cancel(id?: number): void
  answer(id: number, answer: Answer, isForAll: boolean): void
  clear(): void
  /** Repeats uploads that failed because the token had expired or the service was unavailable. */
  renew(): void
}

const mostAtOnce = 3

/** The token expired or the service was unavailable. The file itself is not the cause. */
const isTransient = (error: unknown): boolean => hasStatus(error, 0, 401, 502, 503, 504)
/** For a file that the device cannot read any more, browsers report a failure of the network. */
const faultOf = async (file: File, error: unknown): Promise<unknown> => {
  const read = () => file.slice(0, 1).arrayBuffer()
  return hasStatus(error, 0)
    ? read().then(
        () => error,
        (unreadable: unknown) => unreadable,
      )
    : error
}
/** True if a reload should keep the upload, even a failed one. */
const isUnfinished = ({ stage }: Upload): boolean => stage !== 'done' && stage !== 'skipped'

const createQueue = (shared: Shared) => {
  const { keep, list } = shared
  const { all, edit, change } = list
  const { progress, reset } = createProgress(shared)
  const { send, fail } = createSending(shared, progress)
  const running = new Map<number, AbortController>()
  let last = 0

  const run = async (upload: Upload) => {
    const stop = new AbortController()
    running.set(upload.id, stop)
    change(upload.id, { stage: 'sending', error: undefined })
    try {
      await send(upload, stop.signal)
    } catch (error) {
      const fault = await faultOf(upload.file, error)
      if (!stop.signal.aborted) fail(upload, fault)
    }
    if (running.get(upload.id) === stop) running.delete(upload.id)
    settle()
  }

  /** Starts as many uploads as may run at once, and saves the unfinished ones. */
  const settle = () => {
    keep()
    for (const upload of all.value) {
      if (running.size >= mostAtOnce) break
      if (upload.stage === 'waiting' && !running.has(upload.id)) run(upload)
    }
    if (running.size === 0) reset()
  }

  const insert = (uploads: readonly Pick<Upload, 'path' | 'file' | 'address' | 'storedAs'>[], group = ++last) => {
    edit((byId) => {
      for (const upload of uploads) {
        const id = ++last
        byId.set(id, { ...upload, id, group, stage: 'waiting', sent: 0, replace: false })
      }
    })
    settle()
  }

  const stop = (id: number) => {
    running.get(id)?.abort()
    running.delete(id)
  }

  return { settle, insert, stop }
}

type Queue = ReturnType<typeof createQueue>
type Changing = 'pause' | 'resume' | 'cancel' | 'answer' | 'clear' | 'renew'

const createChanging = (shared: Shared, { settle, stop }: Queue): Pick<Uploads, Changing> => {
  const { client, answers, keep, list } = shared
  const { all, get, edit, change } = list

  const chosen = (id: number | undefined, stages: readonly Stage[]): readonly Upload[] =>
    all.value.filter((upload) => (id === undefined || upload.id === id) && stages.includes(upload.stage))

  return {
    pause(id) {
      batch(() => {
        for (const upload of chosen(id, ['waiting', 'sending'])) {
          change(upload.id, { stage: 'paused' })
          stop(upload.id)
        }
      })
      settle()
    },
    resume(id) {
      batch(() => {
        for (const upload of chosen(id, ['paused', 'failed'])) {
          change(upload.id, { stage: 'waiting', error: undefined })
        }
      })
      settle()
    },
    answer(id, answer, isForAll) {
      const group = get(id)?.group
      if (group === undefined) return
      if (isForAll) answers.set(-group, answer)
      batch(() => {
        for (const upload of chosen(isForAll ? undefined : id, ['asking'])) {
          if (upload.group !== group) continue
          answers.set(upload.id, answer)
          change(upload.id, { stage: answer === 'skip' ? 'skipped' : 'waiting', error: undefined })
        }
      })
      settle()
    },
    renew() {
      batch(() => {
        for (const upload of chosen(undefined, ['failed'])) {
          if (isTransient(upload.error)) change(upload.id, { stage: 'waiting', error: undefined })
        }
      })
      settle()
    },
    cancel(id) {
      const uploads = chosen(id, ['waiting', 'sending', 'paused', 'asking', 'failed'])
      edit((byId) => {
        for (const { id, address } of uploads) {
          stop(id)
          giveUp(client, address)
          byId.delete(id)
        }
      })
      settle()
    },
    clear() {
      edit((byId) => {
        for (const { id, stage, address } of all.value.filter((upload) => !isOpen(upload))) {
          if (stage === 'failed') giveUp(client, address)
          byId.delete(id)
        }
      })
      keep()
    },
  }
}

export const createUploads = (options: UploadsOptions): Uploads => {
  const { client, kept, onFolderFailure } = options
  const list = createUploadList()
  const { all, totals } = list
  const rate = signal(0)
  const interrupted = signal(kept.read())
  const keep = () => kept.write(interrupted.value, all.value.filter(isUnfinished))
  const shared: Shared = { ...options, list, answers: new Map(), rate, keep }
  const queue = createQueue(shared)

  const makeFolders = async (paths: readonly string[]): Promise<void> => {
    const { failed } = await forEachPath(paths, (path) => client().files.createFolder(path))
    const [first] = failed
    if (first) onFolderFailure?.(first.path, first.error, () => makeFolders(failed.map(({ path }) => path)))
  }

  return {
    ...createChanging(shared, queue),
    all,
    totals,
    rate,
    question: computed(() => all.value.find(({ stage }) => stage === 'asking')),
    interrupted,
    add({ files, emptyFolders }, folder) {
      queue.insert(files.map(({ path, file }) => ({ path: join(folder, path), file, address: undefined })))
      makeFolders(emptyFolders.map((path) => join(folder, path)))
    },
    resumeFound(found, missing) {
      interrupted.value = missing
      queue.insert(found.map(({ kept: { path, address, storedAs }, file }) => ({ path, file, address, storedAs })))
    },
    forgetInterrupted() {
      for (const { address } of interrupted.value) giveUp(client, address)
      interrupted.value = []
      keep()
    },
  }
}
