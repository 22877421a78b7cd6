import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashToken } from '../../lib/access/grants.ts'
import { hashPassword } from '../../lib/access/passwords.ts'
import type { Person } from '../../lib/access/people.ts'
import { beginSession } from '../../lib/access/sessions.ts'
import { systemClock } from '../../lib/core/clock.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { startService } from '../../local/service.ts'

export interface ExampleService {
  readonly baseUrl: string
  readonly token: string
  readonly upload: string
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

/**
 * An owner, a page in a workflow, and a folder with an open removal, because no request can create these. Returns the
 * token of the owner.
 */
const openRecords = async (dataDirectory: string, site: HistoryEntry['site']): Promise<string> => {
  const entry: HistoryEntry = { site, type: 'site.created', subject: 'example', actor: 'example' }
  const { stores, close } = await openMachine(dataDirectory)
  const owner = {
    name: 'ann',
    displayName: 'Ann',
    email: 'ann@example.com',
    sites: { [site]: { role: 'owner' } },
    disabled: false,
    password: await hashPassword('correct horse battery'),
    created: 1,
    sessions: 1,
    version: 1,
  } satisfies Person
  try {
    await stores.people.create(owner, [])
    const invitation = { hash: hashToken('d2f1'.repeat(16)), expires: 4_000_000_000 }
    await stores.people.create({ ...owner, name: 'joe', invitation }, [])
    await stores.workflows.start(site, toStoragePath('press/release.html'), entry)
    await stores.removals.open(site, toStoragePath('archive/2025'), 'to go', entry)
    return await beginSession({ grants: stores.grants, clock: systemClock }, owner)
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
    const token = await openRecords(dataDirectory, demo.siteId)
    const upload = await prepareFiles(baseUrl, token)
    return await use({ baseUrl, token, upload })
  } finally {
    await stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}
