import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Grant, hashToken, newToken } from '../../lib/access/grants.ts'
import { readMachineSettings } from '../../lib/config/config.ts'
import type { ExampleCaller } from '../../lib/contract/contract.ts'
import { exampleFiles, exampleUploads } from '../../lib/contract/storage/contract-examples.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { WebForms } from '../../lib/fields/web-forms.ts'
import type { Demo } from '../../lib/machine/directory/demo-file.ts'
import { type LocalStores, type Machine, openMachine } from '../../lib/machine/machine.ts'
import type { Database } from '../../lib/machine/sqlite/database.ts'
import type { Stores } from '../../lib/service/stores.ts'
import { toStoragePath } from '../../lib/storage/path.ts'
import { type RunningService, serverFor, startService } from '../../local/service.ts'
import { closerOf } from '../../server/close-server.ts'

/** Sites that example requests meet beside the demo's, so that every error can be had. */
export const exampleSites = {
  /** Without the new rendering engine. */
  other: 1002 as SiteId,
  unknown: 404,
} as const

/** A web form of the other site whose record is damaged. */
export const damagedForm = 13

/** The service over its demo data, and what example requests meet beside them. */
export interface ExampleService {
  readonly baseUrl: string
  /** The same data behind a store that throttles the web forms, and with a short limit on lists. */
  readonly hamperedUrl: string
  /** The demo's. */
  readonly token: string
  readonly tokens: Readonly<Record<ExampleCaller, string | undefined>>
}

const entry: HistoryEntry = { site: exampleSites.other, type: 'site.created', subject: 'example', actor: 'example' }

const issueToken = async (
  { grants }: Stores,
  { sites, permissions }: Pick<Grant, 'sites' | 'permissions'>,
): Promise<string> => {
  const token = newToken()
  const expires = Math.floor(Date.now() / 1000) + 3600
  await grants.put({ hash: hashToken(token), user: 'example', sites, permissions, expires }, [])
  return token
}

/** Nothing that the service or an administrator does leaves such a record behind. */
const damageForm = ({ connection, write }: Database) => {
  const insert = connection.prepare('INSERT INTO web_forms (site, id, name, fields) VALUES (?, ?, ?, ?)')
  return write(() => insert.run(exampleSites.other, damagedForm, 'Damaged', '['))
}

interface DemoService extends RunningService {
  readonly demo: Demo
}

const withDemo = ({ demo, ...service }: RunningService): DemoService => {
  if (!demo) throw new Error('The first start has made no demo')
  return { ...service, demo }
}

const prepareFiles = async ({ workflows, removals }: Stores, { baseUrl, demo }: DemoService) => {
  const send = (path: string, request: RequestInit) =>
    fetch(`${baseUrl}/api/v2/admin/sites/current/storage/${path}`, {
      ...request,
      headers: { Authorization: demo.token },
    })
  for (const [path, content] of Object.entries({
    [exampleFiles.file]: 'Hello',
    [exampleFiles.pageInWorkflow]: '<h1>News</h1>',
    [exampleFiles.removedFile]: 'Removed',
  })) {
    await send(path, { method: 'PUT', body: content })
  }
  await send(exampleFiles.removedFile, { method: 'DELETE' })
  await workflows.start(demo.siteId, toStoragePath(exampleFiles.pageInWorkflow), entry)
  await removals.open(demo.siteId, toStoragePath(exampleFiles.goingFolder), 'going', entry)
  await removals.open(demo.siteId, toStoragePath(exampleFiles.folderToGo), 'to go', entry)
}

/** Uploads under ids that examples can name. */
const prepareUploads = async ({ grants, uploadRecords, uploadParts }: Stores, { demo }: DemoService) => {
  const user = (await grants.get(hashToken(demo.token)))?.user ?? ''
  const now = Date.now()
  for (const [id, path] of Object.entries(exampleUploads)) {
    const target = { path, asDraft: false, key: `live/${demo.siteId}/${path}`, contentType: 'text/plain' }
    const upload = { id, site: demo.siteId, user, target, metadata: `filename ${Buffer.from(path).toString('base64')}` }
    const sizes = { limit: 1024, length: 11, offset: 0, isComplete: false }
    const holding = await uploadParts.begin(target)
    const moments = { created: now, expires: now + 24 * 3600 * 1000 }
    await uploadRecords.create({ ...upload, ...sizes, ...moments, holding }, 10, now)
  }
}

const busy = async () => {
  throw new ServiceError('unavailable')
}

/** They refuse whatever is asked of them, as a store does when it is asked too much. */
const busyForms: WebForms = {
  get: busy,
  list: busy,
  listWhole: busy,
  create: busy,
  rename: busy,
  highestId: busy,
  changeFields: busy,
  remove: busy,
  clear: busy,
}

/** The service over the same data, with web forms that are busy and a limit on lists that the demo's news exceed. */
const openHampered = async (stores: LocalStores) => {
  const server = serverFor({
    dataCentre: 'us',
    stores: { ...stores, webForms: busyForms },
    settings: { ...readMachineSettings({}), longestList: 10 },
    telemetry: { request: () => undefined },
  })
  const close = closerOf(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

const prepare = async ({ stores, database }: Machine, service: DemoService) => {
  const { siteId } = service.demo
  const site = { id: exampleSites.other, name: 'Other site', dataCentre: 'us', renderingEngine: false }
  await stores.sites.createSite(site, entry)
  await damageForm(database)
  await prepareFiles(stores, service)
  await prepareUploads(stores, service)
  const sites = [siteId, exampleSites.other]
  return {
    nobody: undefined,
    'without permission': await issueToken(stores, { sites: [siteId], permissions: [] }),
    'of two sites': await issueToken(stores, { sites, permissions: ['files'] }),
  }
}

/** Prepares a service that runs on a data directory of its own, and opens it once more as the hampered one. */
const usePrepared = async <Result>(
  running: DemoService,
  dataDirectory: string,
  use: (service: ExampleService) => Promise<Result>,
): Promise<Result> => {
  const machine = await openMachine(dataDirectory)
  try {
    const tokens = await prepare(machine, running)
    const hampered = await openHampered(machine.stores)
    try {
      return await use({ baseUrl: running.baseUrl, hamperedUrl: hampered.url, token: running.demo.token, tokens })
    } finally {
      await hampered.close()
    }
  } finally {
    await machine.close()
  }
}

/** Runs a service on a data directory of its own for as long as it is used. */
export const useExampleService = async <Result>(use: (service: ExampleService) => Promise<Result>): Promise<Result> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-examples-'))
  const running = await startService({
    dataDirectory,
    host: '127.0.0.1',
    dataCentres: [{ id: 'us', port: 0 }],
    reset: false,
    telemetry: { request: () => undefined },
    say: () => undefined,
  })
  try {
    return await usePrepared(withDemo(running), dataDirectory, use)
  } finally {
    await running.stop()
    await rm(dataDirectory, { recursive: true, force: true })
  }
}
