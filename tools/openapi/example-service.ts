import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashToken } from '../../lib/access/grants.ts'
import { exampleFiles, exampleUpload } from '../../lib/contract/storage/contract-examples.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import type { Demo } from '../../lib/machine/directory/demo-file.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import type { Stores } from '../../lib/service/stores.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { startService } from '../../local/service.ts'

/** The service over its demo data, and the files that example requests need beside them. */
export interface ExampleService {
  readonly baseUrl: string
  /** The demo's. */
  readonly token: string
}

const storeFiles = async ({ baseUrl, token }: ExampleService) => {
  const send = (path: string, request: RequestInit) =>
    fetch(`${baseUrl}/api/v2/admin/sites/current/storage/${path}`, { ...request, headers: { Authorization: token } })
  await send(exampleFiles.file, { method: 'PUT', body: 'Hello' })
  await send(exampleFiles.pageInWorkflow, { method: 'PUT', body: '<h1>News</h1>' })
  await send(exampleFiles.removedFile, { method: 'PUT', body: 'Removed' })
  await send(exampleFiles.removedFile, { method: 'DELETE' })
}

const openRecords = async ({ workflows, removals }: Stores, { siteId }: Demo) => {
  const entry: HistoryEntry = { site: siteId, type: 'site.created', subject: 'example', actor: 'example' }
  await workflows.start(siteId, toStoragePath(exampleFiles.pageInWorkflow), entry)
  await removals.open(siteId, toStoragePath(exampleFiles.folderToGo), 'to go', entry)
}

/** Under an id that examples can name. */
const openUpload = async ({ grants, uploadRecords, uploadParts }: Stores, { siteId, token }: Demo) => {
  const user = (await grants.get(hashToken(token)))?.user ?? ''
  const now = Date.now()
  const { id, path } = exampleUpload
  const target = { path, asDraft: false, key: `live/${siteId}/${path}`, contentType: 'text/plain' }
  const upload = { id, site: siteId, user, target, metadata: `filename ${Buffer.from(path).toString('base64')}` }
  const sizes = { limit: 1024, length: 11, offset: 0, isComplete: false }
  const holding = await uploadParts.begin(target)
  const moments = { created: now, expires: now + 24 * 3600 * 1000 }
  await uploadRecords.create({ ...upload, ...sizes, ...moments, holding }, 10, now)
}

/** Runs the service on a data directory of its own while `use` runs. */
export const useExampleService = async <Result>(use: (service: ExampleService) => Promise<Result>): Promise<Result> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-examples-'))
  const { baseUrl, demo, stop } = await startService({
    dataDirectory,
    host: '127.0.0.1',
    dataCentres: [{ id: 'us', port: 0 }],
    reset: false,
    telemetry: { request: () => undefined },
    say: () => undefined,
  })
  try {
    if (!demo) throw new Error('The first start has made no demo')
    const service = { baseUrl, token: demo.token }
    await storeFiles(service)
    const machine = await openMachine(dataDirectory)
    try {
      await openRecords(machine.stores, demo)
      await openUpload(machine.stores, demo)
    } finally {
      await machine.close()
    }
    return await use(service)
  } finally {
    await stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}
