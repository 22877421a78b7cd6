import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccessHandler } from '../functions/access/group.ts'
import { createCategoriesHandler } from '../functions/categories/group.ts'
import { createDocumentationHandler } from '../functions/documentation/group.ts'
import { createFieldsHandler } from '../functions/fields/group.ts'
import { createStorageHandler } from '../functions/storage/group.ts'
import { createWebhooksHandler } from '../functions/webhooks/group.ts'
import { type MachineSettings, readSettingsOf } from '../lib/config/config.ts'
import { ServiceError } from '../lib/core/errors.ts'
import { howMany } from '../lib/core/names.ts'
import { isDiskFull, isOutOfSpace } from '../lib/core/system-failures.ts'
import { systemClock } from '../lib/core/time.ts'
import type { Handler, Telemetry } from '../lib/http/request.ts'
import { readDemo } from '../lib/machine/directory/demo-file.ts'
import { refusalOf } from '../lib/machine/directory/faults.ts'
import type { Reset } from '../lib/machine/directory/open-directory.ts'
import { type LocalStores, openMachine } from '../lib/machine/machine.ts'
import {
  createAccessDeps,
  createCallerLookup,
  createCategoriesDeps,
  createDocumentationDeps,
  createFieldsDeps,
  createStorageDeps,
  createWebhooksDeps,
} from '../lib/service/deps.ts'
import type { SiteDirectory } from '../lib/sites/site-directory.ts'
import { createTarget } from '../lib/webhooks/target.ts'
import { createAddressOf } from '../server/read-request.ts'
import { createServer, dispatch } from '../server/server.ts'
import { ensureDemo } from './demo.ts'
import { createDownloads, createLinkTo, isDownload } from './downloads.ts'
import type { Flags } from './flags.ts'
import { createListeners } from './listeners.ts'
import { createWebhookSender } from './webhook-sender.ts'

/** the client secrets of issuers. A file is read for each sign-in, so a new secret needs no restart. */
export const createClientSecrets =
  ({ clientSecrets, clientSecretsFile: readFile }: Pick<MachineSettings, 'clientSecrets' | 'clientSecretsFile'>) =>
  async (issuer: string): Promise<string | undefined> =>
    (readFile?.() ?? clientSecrets)?.get(issuer)

/** V-29: the service is ready after its start, as long as its disk has free space and accepts changes. */
export const createReadiness = (dataDirectory: string) => {
  let hasStarted = false
  return {
    started(): void {
      hasStarted = true
    },

    async check(): Promise<void> {
      if (!hasStarted) throw new ServiceError('unavailable')
      if (isDiskFull(dataDirectory)) throw new ServiceError('outOfSpace')
      const now = new Date()
      await utimes(dataDirectory, now, now).catch((cause: unknown) => {
        throw new ServiceError('unavailable', { cause })
      })
    },
  }
}

const consoleFolder = join(import.meta.dirname, '..', 'console', 'dist')

type Surroundings = Parameters<typeof createAccessDeps>[2] &
  Parameters<typeof createFieldsDeps>[2] &
  Parameters<typeof createWebhooksDeps>[2]

// In milliseconds. A renewal records how many bytes of an upload are on the disk. The upload waits for this record.
const lease = { lasts: 15_000, renewsEvery: 1_000 }

// The handlers of all groups for one data centre.
const handlersFor = (dataCentre: string, stores: LocalStores, settings: MachineSettings, given: Surroundings) => {
  const here = { dataCentre, ...settings }
  const surroundings = { ...given, consoleFolder, findClientSecret: createClientSecrets(settings) }
  const linkTo = createLinkTo(stores.linkSecret, systemClock)
  const storage = createStorageDeps(here, stores, { ...surroundings, linkTo, lease })
  const downloads = createDownloads(stores.files, stores.linkSecret, storage.edge)
  const groups = dispatch({
    documentation: createDocumentationHandler(createDocumentationDeps(here, stores, surroundings)),
    access: createAccessHandler(createAccessDeps(here, stores, surroundings)),
    fields: createFieldsHandler(createFieldsDeps(here, stores, surroundings)),
    categories: createCategoriesHandler(createCategoriesDeps(here, stores, surroundings)),
    storage: createStorageHandler(storage),
    webhooks: createWebhooksHandler(createWebhooksDeps(here, stores, surroundings)),
  })
  return (path: string): Handler => (isDownload(path) ? downloads : groups(path))
}

// The default data centre of this list becomes the only default data centre in the directory.
const registerDataCentres = async (sites: SiteDirectory, urls: Readonly<Record<string, string>>, defaultId: string) => {
  const { dataCentres } = await sites.list()
  const stale = dataCentres.filter(({ id, isDefault }) => isDefault && !(id in urls))
  const listening = Object.entries(urls).map(([id, url]) => ({ id, url, isDefault: id === defaultId }))
  for (const dataCentre of [...stale.map((each) => ({ ...each, isDefault: false })), ...listening]) {
    await sites.putDataCentre(dataCentre)
  }
}

type OptionalFlags = 'tls' | 'demo' | 'insecureSignIn' | 'allowPrivateWebhooks' | 'metrics'

interface Options extends Pick<Flags, 'host' | 'dataCentres'>, Partial<Pick<Flags, OptionalFlags>> {
  readonly dataDirectory: string
  readonly trustProxy?: Flags['trustProxy'] | undefined
  readonly reset: Reset
  readonly telemetry: Telemetry
  readonly say: (sentence: string) => void
}

/**
 * One process with one data directory, and a listener for each data centre. Throws UsageError or SettingsError for
 * faults that a user can correct.
 */
export const startService = async (options: Options) => {
  const { dataDirectory, host, dataCentres, reset, demo: wantsDemo = true, telemetry, say } = options
  const { trustProxy: trusted, insecureSignIn = false, allowPrivateWebhooks: permitsPrivate = false } = options
  const tls = options.tls && (await import('./certificate.ts')).openTls(options.tls, say)
  const settings = readSettingsOf('machine')
  const machine = await openMachine(dataDirectory, {
    role: 'service',
    reset,
    durable: settings.fsync === 'on',
    keptFor: settings.keptDays * 24 * 3600 * 1000,
  })
  const { directory, stores } = machine
  const callers = createCallerLookup(stores)
  const home = dataCentres[0]?.id ?? ''
  const target = createTarget({ permitsPrivate })
  const readiness = createReadiness(directory.path)
  const metrics = options.metrics && (await import('./metrics.ts')).createMetrics(machine)
  const counted = metrics?.alsoTo(telemetry) ?? telemetry
  const listeners = createListeners(
    dataCentres,
    { scheme: tls ? 'https' : 'http', host },
    ({ id: dataCentre, baseUrl }) => {
      const addressOf = createAddressOf(trusted, baseUrl !== undefined)
      const surroundings = { telemetry: counted, callers, insecureSignIn, target, checkReady: readiness.check }
      const handlers = handlersFor(dataCentre, stores, settings, surroundings)
      const server = (tls?.createServer ?? createServer)(handlers, { addressOf })
      metrics?.watchServer(server)
      return server
    },
    say,
  )
  const sender = createWebhookSender(stores, permitsPrivate)
  const stop = async () => {
    tls?.close()
    metrics?.close()
    stores.live.close()
    await Promise.all([listeners.close(), sender.stop()])
    target.close()
    await machine.close()
  }

  try {
    // Throws for an unreadable file before the service listens, even if no demo is wanted.
    readDemo(directory)
    const damaged = stores.tidied?.damaged ?? 0
    if (damaged > 0) {
      const files = howMany(damaged, 'file is', 'files are')
      say(`${files} damaged and cannot be read. Run "site-admin check" to see the damage.`)
    }
    const { urls, listening } = await listeners.listen()
    const metricsUrl = options.metrics && (await metrics?.listen(options.metrics))
    await registerDataCentres(stores.sites, urls, home)
    const demo = wantsDemo ? await ensureDemo({ directory, stores, dataCentre: home, say }) : undefined
    const hasPeople = demo && (await stores.people.listOfSites(demo.siteId)).length > 0
    sender.start()
    readiness.started()
    return { baseUrl: urls[home] ?? '', dataCentres: urls, listening, metricsUrl, demo, hasPeople, stop }
  } catch (error) {
    await stop()
    // The writes at the start may be the first to find a full disk.
    throw isOutOfSpace(error) ? refusalOf(directory, { code: 'diskFull' }, error) : error
  }
}

export type RunningService = Awaited<ReturnType<typeof startService>>
