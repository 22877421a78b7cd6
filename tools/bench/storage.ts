import { Readable } from 'node:stream'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { systemClock } from '../../lib/core/time.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { LocalStores } from '../../lib/machine/machine.ts'
import { createStorageDeps } from '../../lib/service/deps.ts'
import type { ObjectStore } from '../../lib/storage/object-store.ts'
import type { UploadProgress } from '../../lib/storage/upload-progress.ts'
import { createLinkTo } from '../../local/downloads.ts'
import { fillDirectory } from '../../test/support/every-operation.ts'
import { answerTo, requestOf } from '../../test/support/gateway.ts'
import { bytes } from './measure/content.ts'
import { atMost, type Bench, inTurns, mebibyte, seconds, type Table } from './measure/figures.ts'
import { atEndpoint, onMachine, unlogged } from './measure/grounds.ts'
import { measureS3 } from './storage/s3.ts'
import { measureUpload } from './storage/upload.ts'

const runs = 10
const gibibyte = 1024 * mebibyte
const size = 16 * gibibyte
const targets = { writes: 4, cost: 3 }
const settings = { dataCentre: 'us', largestFile: size, largestResumableFile: size, reservedFolders: [] }

/** The duration of one upload in seconds. */
const upload = (handler: Handler, token: string): Promise<number> => {
  const headers = { Authorization: token, 'Content-Length': String(size) }
  const request = requestOf('PUT', '/api/v2/admin/sites/current/storage/large.bin', { headers })
  const stream = Readable.from(bytes(size), { objectMode: false })
  return seconds(async () => {
    const { status } = await answerTo(handler, { ...request, body: { stream } })
    if (status !== 200) throw new Error(`The upload was answered ${status}`)
  })
}

const silent: UploadProgress = { begin: async () => {}, report: async () => {}, percentOf: async () => 0 }

/** Records when each upload writes its progress, by the id of the upload. */
const noted = (progress: UploadProgress, writes: Map<string, number[]>): UploadProgress => {
  const note = (id: string) => writes.set(id, [...(writes.get(id) ?? []), performance.now()])
  return {
    ...progress,
    begin(upload, percent) {
      note(upload.id)
      return progress.begin(upload, percent)
    },
    report(upload, percent) {
      note(upload.id)
      return progress.report(upload, percent)
    },
  }
}

/** Returns the largest number of writes of one upload within a second. */
const mostInASecond = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length))

/** The speed of a disk varies more than the effect that is measured, so received bytes are dropped. */
const forgetful = (files: ObjectStore): ObjectStore => ({
  ...files,
  async stage(content, target) {
    for await (const _ of content);
    return files.stage(Readable.from([]), target)
  },
})

const compare = async (stores: LocalStores): Promise<Table> => {
  const token = await fillDirectory(stores)
  const telling = (progress: UploadProgress) => {
    const used = { ...stores, files: forgetful(stores.files), progress }
    return createStorageHandler(createStorageDeps(settings, used, { ...unlogged, linkTo }))
  }
  const linkTo = createLinkTo(stores.linkSecret, systemClock)
  const writes = new Map<string, number[]>()
  const [loud, quiet] = [telling(noted(stores.progress, writes)), telling(silent)]
  const { slow, fast } = await inTurns(runs, {
    fast: () => upload(quiet, token),
    slow: () => upload(loud, token),
  })
  const most = Math.max(...[...writes.values()].map(mostInASecond))
  const cost = (slow / fast - 1) * 100
  const rate = (time: number) => (size / mebibyte / time).toFixed(0)
  return {
    title: `Progress of an upload of ${size / gibibyte} GiB without other limits (median of ${runs})`,
    columns: ['figure', 'with progress', 'without', 'cost', 'target', 'verdict'],
    rows: [
      ['MiB/s', rate(slow), rate(fast), `${cost.toFixed(1)} %`, ...atMost(cost, targets.cost, ' %')],
      ['most writes in a second', most, '', '', ...atMost(most, targets.writes)],
    ],
  }
}

const measureProgress = (): Promise<Table> => onMachine(({ stores }) => compare(stores))

export const storage: Bench = async () => [
  await measureUpload(),
  await measureProgress(),
  ...(await atEndpoint('the figures of S3 are', measureS3)),
]
