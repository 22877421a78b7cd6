import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashToken } from '../../lib/access/grants.ts'
import { newPerson, type Person } from '../../lib/access/people.ts'
import { beginSession, hashPassword } from '../../lib/access/sign-in.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import { systemClock } from '../../lib/core/time.ts'
import { type LocalStores, openMachine } from '../../lib/machine/machine.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { startService } from '../../local/service.ts'

export interface ExampleService {
  readonly baseUrl: string
  readonly token: string
  /** The values of path variables that differ from run to run. */
  readonly variables: Readonly<Record<string, string>>
}

const prepareFiles = async (baseUrl: string, token: string): Promise<string> => {
  const send = (path: string, method: string, request: { headers?: Record<string, string>; body?: string } = {}) =>
    fetch(`${baseUrl}/api/v2/admin/sites/current/storage/${path}`, {
      method,
      ...request,
      headers: { Authorization: token, ...request.headers },
    })
  await send('hello.txt', 'PUT', { body: 'Hello' })
  await send('press/release.html', 'PUT', { body: '<h1>News</h1>' })
  await send('archive/removed.txt', 'PUT', { body: 'Removed' })
  await send('archive/removed.txt', 'DELETE')
  const begun = await send('', 'POST', {
    headers: { 'Tus-Resumable': '1.0.0', 'Upload-Length': '11', 'Upload-Metadata': `filename ${btoa('large.txt')}` },
  })
  return begun.headers.get('Location')?.split('/').at(-1) ?? ''
}

// A webhook that is never sent, with one delivery.
const addWebhook = async ({ webhooks, deliveries, history }: LocalStores, entry: HistoryEntry): Promise<string> => {
  const { site } = entry
  const id = 'whk_d2f1d2f1d2f1d2f1'
  // The service refuses to connect to this address, so a test needs no network.
  const target = { targetUrl: 'https://127.0.0.1/hooks', types: ['file.*'], subject: 'news/' }
  const kept = {
    enabled: false,
    description: 'News',
    secrets: [{ sealed: `whsec_${'0'.repeat(32)}` }],
    position: 0,
    retries: [],
  }
  const reported = { type: 'file.stored', subject: 'news/index.html' } as const
  await webhooks.create({ site, id, ...target, ...kept }, { ...entry, ...reported })
  const [{ position = 0 } = {}] = await history.before(site, undefined, 1)
  const delivery = { id: `dlv_${position}`, position, type: reported.type, attempt: 1 }
  const outcome = { delivery: { ...delivery, at: 1_769_860_800_000, status: 200, milliseconds: 38 } }
  await deliveries.record(site, id, outcome)
  return delivery.id
}

// Stores records that no request can create: an owner, a page in a workflow, a folder with an open removal, and a
// webhook. Returns the token of the owner, and the id of a delivery.
const openRecords = async (dataDirectory: string, site: HistoryEntry['site']) => {
  const entry: HistoryEntry = { site, type: 'site.created', subject: 'example', actor: 'example' }
  const { stores, close } = await openMachine(dataDirectory)
  const sites: Person['sites'] = { [site]: { role: 'owner' } }
  const ann = newPerson({ name: 'ann', displayName: 'Ann', email: 'ann@example.com', sites }, 1)
  const owner = { ...ann, password: await hashPassword('correct horse battery') }
  try {
    await stores.people.create(owner, [])
    const invitation = { hash: hashToken('d2f1'.repeat(16)), expires: 4_000_000_000 }
    await stores.people.create({ ...owner, name: 'joe', invitation }, [])
    await stores.workflows.start(site, toStoragePath('press/release.html'), entry)
    await stores.removals.open(site, toStoragePath('archive/2025'), 'to go', entry)
    const delivery = await addWebhook(stores, entry)
    return { token: await beginSession({ grants: stores.grants, clock: systemClock }, owner), delivery }
  } finally {
    await close()
  }
}

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
    if (!demo) throw new Error('The first start created no demo site')
    const { token, delivery } = await openRecords(dataDirectory, demo.siteId)
    const upload = await prepareFiles(baseUrl, token)
    return await use({ baseUrl, token, variables: { upload, delivery } })
  } finally {
    await stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}
