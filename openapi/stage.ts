import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ExampleCaller } from '../functions/operation-doc.ts'
import { stage as files } from '../functions/storage/stage.doc.ts'
import { type Grant, hashToken, newToken } from '../lib/access/token.ts'
import { readMachineSettings } from '../lib/config.ts'
import { ServiceError } from '../lib/errors.ts'
import type { WebForms } from '../lib/fields/web-forms.ts'
import type { HistoryEntry } from '../lib/history-entry.ts'
import type { SiteId } from '../lib/ids.ts'
import { toStoragePath } from '../lib/storage/path.ts'
import type { Stores } from '../lib/stores.ts'
import type { Database } from '../local/database.ts'
import { serverFor } from '../local/groups.ts'
import { type Machine, openMachine } from '../local/machine.ts'
import type { RunningService } from '../local/service.ts'
import { closerOf } from '../server/close-server.ts'

/** What example requests meet beside the demo data, so that every error can be had. */
export const stage = {
  /** A site without the new rendering engine. */
  otherSite: 1002 as SiteId,
  /** A web form there whose record is damaged. */
  damagedForm: 13,
  unknownSite: 404,
} as const

export interface Stage {
  readonly baseUrl: string
  readonly hamperedUrl: string
  readonly tokens: Readonly<Record<ExampleCaller, string | undefined>>
  close(): Promise<void>
}

const entry: HistoryEntry = { site: stage.otherSite, type: 'site.created', subject: 'example', actor: 'example' }

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
  return write(() => insert.run(stage.otherSite, stage.damagedForm, 'Damaged', '['))
}

const prepareFiles = async ({ workflows, removals }: Stores, { baseUrl, demo }: RunningService) => {
  for (const [path, content] of Object.entries({ [files.file]: 'Hello', [files.pageInWorkflow]: '<h1>News</h1>' })) {
    const address = `${baseUrl}/api/v2/admin/sites/current/storage/${path}`
    await fetch(address, { method: 'PUT', headers: { Authorization: demo.token }, body: content })
  }
  await workflows.start(demo.siteId, toStoragePath(files.pageInWorkflow), entry)
  await removals.open(demo.siteId, toStoragePath(files.goingFolder), 'going', entry)
  await removals.open(demo.siteId, toStoragePath(files.folderToGo), 'to go', entry)
}

const busy = async () => {
  throw new ServiceError('unavailable')
}

/** They refuse whatever is asked of them, as a store does when it is asked too much. */
const busyForms: WebForms = {
  get: busy,
  list: busy,
  create: busy,
  rename: busy,
  highestId: busy,
  changeFields: busy,
}

/** The service over the same data, with web forms that are busy and a limit on lists that the demo's news exceed. */
const openHampered = async (stores: Stores) => {
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

const prepare = async ({ stores, database }: Machine, service: RunningService) => {
  const { siteId } = service.demo
  const site = { id: stage.otherSite, name: 'Other site', dataCentre: 'us', renderingEngine: false }
  await stores.sites.createSite(site, entry)
  await damageForm(database)
  await prepareFiles(stores, service)
  const sites = [siteId, stage.otherSite]
  return {
    nobody: undefined,
    'without permission': await issueToken(stores, { sites: [siteId], permissions: [] }),
    'of two sites': await issueToken(stores, { sites, permissions: ['files'] }),
  }
}

/** Prepares a service that runs on a data directory of its own. */
export const prepareStage = async (service: RunningService, dataDirectory: string): Promise<Stage> => {
  const machine = await openMachine(dataDirectory)
  try {
    const tokens = await prepare(machine, service)
    const hampered = await openHampered(machine.stores)
    return {
      baseUrl: service.baseUrl,
      hamperedUrl: hampered.url,
      tokens,
      async close() {
        await hampered.close()
        await machine.close()
      },
    }
  } catch (error) {
    await machine.close()
    throw error
  }
}
