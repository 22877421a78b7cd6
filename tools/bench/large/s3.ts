import { createStorageHandler } from '../../../functions/storage/group.ts'
import type { Answer, Handler } from '../../../lib/http/request.ts'
import { createStorageDeps } from '../../../lib/service/deps.ts'
import { type CloudRequest, watchCloudRequests } from '../../../test/support/cloud-requests.ts'
import { fillDirectory, storesOver } from '../../../test/support/every-operation.ts'
import { answerTo, requestOf } from '../../../test/support/gateway.ts'
import { atLeast, inTurns, mebibyte, seconds, type Table } from '../measure/figures.ts'
import { type CloudFiles, onTables, openCloudFiles, unlogged, uploadByLibrary } from '../measure/grounds.ts'
import { type Consumed, meter } from '../measure/meter.ts'
import { countRequests, uploadCosts } from '../measure/prices.ts'

const runs = 3
const measured = 256 * mebibyte
const target = 0.35
// The body of an append through API Gateway, in bytes.
const gatewayAppend = 4_500_000
const gibibyte = 1024 * mebibyte

const settings = { dataCentre: 'us', largestFile: gibibyte, largestResumableFile: gibibyte, reservedFolders: [] }

type Service = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: Buffer,
) => Promise<Pick<Answer, 'status' | 'headers'>>

const serviceOf =
  (handler: Handler, token: string): Service =>
  (method, path, headers, bytes = Buffer.alloc(0)) => {
    const length = { 'Content-Length': String(bytes.length) }
    const all = { Authorization: token, 'Tus-Resumable': '1.0.0', ...length, ...headers }
    return answerTo(handler, { ...requestOf(method, path, { headers: all }), body: { bytes } })
  }

// Uploads `size` bytes in appends of `step` bytes.
const uploadPiecewise = async (call: Service, size: number, step: number): Promise<void> => {
  const content = Buffer.alloc(step, 'x')
  const creation = { 'Upload-Length': String(size), 'Upload-Metadata': 'filename bGFyZ2UuYmlu' }
  const { headers } = await call('POST', '/api/v2/admin/sites/1001/storage', creation)
  const { pathname } = new URL(headers['Location'] ?? '')
  for (let offset = 0; offset < size; offset += step) {
    const piece = content.subarray(0, Math.min(step, size - offset))
    const told = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) }
    const { status } = await call('PATCH', pathname, told, piece)
    if (status !== 204) throw new Error(`An append at ${offset} was answered ${status}`)
  }
}

const measureRates = async (opened: CloudFiles, call: Service): Promise<Table> => {
  const { own, library } = await inTurns(runs, {
    own: () => seconds(() => uploadPiecewise(call, measured, 4 * mebibyte)),
    library: () => seconds(() => uploadByLibrary(opened, measured)),
  })
  const ratio = library / own
  return {
    title: `256 MiB to S3 at ${process.env['AWS_ENDPOINT_URL']} (median of ${runs}, alternating)`,
    columns: ['figure', 'service, s', 'lib-storage, s', 'ratio', 'target', 'verdict'],
    rows: [['tus, appends of 4 MiB', own.toFixed(1), library.toFixed(1), ratio.toFixed(2), ...atLeast(ratio, target)]],
  }
}

// In seconds: the time of the function for an append of 4.5 MB. This is an assumption, like those in prices.ts.
const assumedSecondsOfAppend = 0.4

/** The cost of 1 GiB in appends through the gateway. `costs` counts an upload in parts. */
const measureCosts = async (call: Service, takeConsumed: () => Consumed): Promise<Table> => {
  const sent: CloudRequest[] = []
  const stop = watchCloudRequests((request) => void sent.push(request))
  takeConsumed()
  await uploadPiecewise(call, gibibyte, gatewayAppend)
  stop()
  const consumed = takeConsumed()
  const requests = Math.ceil(gibibyte / gatewayAppend) + 1
  const title = 'What an upload of a GiB by tus costs, in appends of 4.5 MB (US dollars)'
  return uploadCosts(title, requests, assumedSecondsOfAppend, consumed, countRequests(sent))
}

/**
 * Measures speed and cost of resumable uploads to `AWS_ENDPOINT_URL`, in requests of the size that API Gateway allows.
 */
export const measureOnS3 = (): Promise<readonly Table[]> =>
  onTables(async (dynamodb) => {
    const token = await fillDirectory(storesOver(dynamodb))
    const takeConsumed = meter(dynamodb)
    const opened = await openCloudFiles(dynamodb)
    const { downloads, linkTo, stores } = opened
    const surroundings = { ...unlogged, downloads, linkTo, lease: { lasts: 33_000 } }
    const deps = createStorageDeps(settings, { ...storesOver(dynamodb), ...stores }, surroundings)
    const call = serviceOf(createStorageHandler(deps), token)
    return [await measureRates(opened, call), await measureCosts(call, takeConsumed)]
  })
