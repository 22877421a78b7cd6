import { type Caller, findCaller } from '../access/grants.ts'
import { createUseLog } from '../access/keys.ts'
import type { CategoriesSettings, DocumentationSettings, EdgeSettings, FileSettings } from '../config/config.ts'
import { type CachedLookup, cachedLookup } from '../core/cached-lookup.ts'
import type { SiteId } from '../core/ids.ts'
import { type Clock, systemClock } from '../core/time.ts'
import { createRequestLimit, type EdgeDeps } from '../http/admission.ts'
import { createReplyCache } from '../http/reply.ts'
import type { Telemetry } from '../http/request.ts'
import type { DataCentre } from '../sites/site-directory.ts'
import type { ObjectInfo } from '../storage/object-store.ts'
import { createQuotas, limitFiles, type UsageCounts } from '../storage/quota.ts'
import { createProgressReports } from '../storage/upload-progress.ts'
import { type LeaseTerms, renewedLease } from '../storage/uploads/uploads.ts'
import type { Target } from '../webhooks/target.ts'
import type { Stores } from './stores.ts'

type CallerLookup = CachedLookup<string, Caller | undefined>

/** groups of one process that share `callers` forget a revoked token at the same moment. */
export interface Surroundings {
  readonly telemetry: Telemetry
  readonly clock?: Clock
  readonly callers?: CallerLookup
}

// In milliseconds. A token that another process has revoked stops working after this time at the latest.
const directoryTtl = 20_000

const remembered = ({ monotonic }: Clock) => ({ ttl: directoryTtl, max: 10_000, now: monotonic })

type EdgeStores = Pick<Stores, 'sites' | 'grants' | 'people'>

type HandledSettings = Pick<EdgeSettings, 'dataCentre'> &
  Partial<Pick<EdgeSettings, 'requestsPerToken' | 'requestsPerSite'>>

type CallerStores = Pick<Stores, 'grants' | 'people'>

export const createCallerLookup = ({ grants, people }: CallerStores, clock: Clock = systemClock): CallerLookup => {
  const noteUse = createUseLog(grants, clock.wall)
  return cachedLookup(async (hash) => {
    const caller = await findCaller(grants, people, hash)
    if (caller) await noteUse(caller)
    return caller
  }, remembered(clock))
}

const nobody = async () => undefined

const edgeOf = (
  { dataCentre, requestsPerToken = 0, requestsPerSite = 0 }: HandledSettings,
  { sites, grants, people }: Pick<Stores, 'sites'> & Partial<CallerStores>,
  { telemetry, clock = systemClock, callers }: Surroundings,
): EdgeDeps => ({
  dataCentre,
  findCaller: callers ?? (grants && people ? createCallerLookup({ grants, people }, clock) : nobody),
  findSite: cachedLookup((id: SiteId) => sites.getSite(id), remembered(clock)),
  findDataCentre: cachedLookup((id: string) => sites.getDataCentre(id), remembered(clock)),
  limitToken: createRequestLimit(requestsPerToken, 'with this token', clock.monotonic),
  limitSite: createRequestLimit(requestsPerSite, 'for this site', clock.monotonic),
  telemetry,
  clock,
})

export const createDocumentationDeps = (
  // `downloadsUrl` is set only if it differs from the address of the service.
  settings: Pick<DocumentationSettings, 'dataCentre' | 'downloadsUrl' | 'keptDays'> &
    Partial<Pick<DocumentationSettings, 'dataCentres'>>,
  stores: Pick<Stores, 'sites'>,
  surroundings: Surroundings & { readonly consoleFolder: string },
) => {
  const edge = edgeOf(settings, stores, surroundings)
  const { dataCentres } = settings
  return {
    ...settings,
    ...surroundings,
    edge,
    findDataCentres: async (): Promise<readonly DataCentre[]> => {
      // A group that may not list the directory passes the ids instead.
      if (dataCentres === undefined) return (await stores.sites.list()).dataCentres
      const found = await Promise.all(dataCentres.map((id) => edge.findDataCentre(id)))
      return found.filter((dataCentre) => dataCentre !== undefined)
    },
    findBaseUrl: async () => (await edge.findDataCentre(settings.dataCentre))?.url,
  }
}

export type DocumentationDeps = ReturnType<typeof createDocumentationDeps>

// after a removal or change, this process no longer uses the callers that it has cached.
const withForgetting = ({ grants, people }: CallerStores, callers: CallerLookup): CallerStores => ({
  grants: {
    ...grants,
    remove: (hash, entries) =>
      grants
        .remove(hash, entries)
        .finally(() => callers.forget((caller) => caller.hash === hash || caller.parent === hash)),
  },
  people: {
    ...people,
    replace: (before, after, entries) =>
      people.replace(before, after, entries).finally(() => callers.forget(({ user }) => user === before.name)),
  },
})

export const createAccessDeps = (
  settings: HandledSettings,
  stores: EdgeStores & Pick<Stores, 'attempts' | 'issuers' | 'accessValues'>,
  surroundings: Surroundings & {
    /** undefined for an issuer without a client secret. */
    readonly findClientSecret?: (issuer: string) => Promise<string | undefined>
    readonly insecureSignIn?: boolean
  },
) => {
  const { insecureSignIn = false, clock = systemClock, findClientSecret = nobody } = surroundings
  const callers = surroundings.callers ?? createCallerLookup(stores, clock)
  const edge = edgeOf(settings, stores, { ...surroundings, callers })
  const { findSite } = edge
  return { ...stores, ...withForgetting(stores, callers), edge, findSite, clock, insecureSignIn, findClientSecret }
}

export type AccessDeps = ReturnType<typeof createAccessDeps>

export const createFieldsDeps = (
  settings: HandledSettings,
  stores: EdgeStores & Pick<Stores, 'webForms'>,
  /** V-29. Without `checkReady`, a process is ready when it answers. */
  surroundings: Surroundings & { readonly checkReady?: () => Promise<void> },
) => ({ ...stores, ...surroundings, edge: edgeOf(settings, stores, surroundings) })

export type FieldsDeps = Pick<ReturnType<typeof createFieldsDeps>, 'edge' | 'webForms' | 'checkReady'>

export const createCategoriesDeps = (
  settings: HandledSettings & Pick<CategoriesSettings, 'longestList'>,
  stores: EdgeStores & Pick<Stores, 'contents' | 'links'>,
  surroundings: Surroundings,
) => ({
  ...settings,
  ...stores,
  edge: edgeOf(settings, stores, surroundings),
  cacheReply: createReplyCache(() => stores.contents.state()),
})

export type CategoriesDeps = ReturnType<typeof createCategoriesDeps>

// A URL for a file that is too large for an answer of the platform.
export interface Downloads {
  readonly largestAnswer: number
  // Returns a URL that downloads this version as an attachment, for five minutes.
  readonly urlOf: (object: ObjectInfo) => Promise<string>
}

export interface DownloadLink {
  readonly url: string
  // In milliseconds since the epoch.
  readonly expires: number
}

export type LinkTo = (object: ObjectInfo, dataCentre: DataCentre) => Promise<DownloadLink>

export type FileStores = Pick<Stores, 'progress' | 'uploadRecords' | 'uploadParts' | 'directParts'> &
  Pick<Stores, 'files' | 'workflows' | 'removals' | 'removalQueue' | 'history' | 'live'>

export const createStorageDeps = (
  settings: HandledSettings & FileSettings,
  // `counts` is missing on one machine, where the transactions of the stores count the bytes.
  { counts, ...stores }: EdgeStores & FileStores & { readonly counts?: UsageCounts },
  surroundings: Surroundings & { readonly downloads?: Downloads; readonly linkTo: LinkTo; readonly lease?: LeaseTerms },
) => {
  const { downloads, linkTo, lease = renewedLease, clock = systemClock } = surroundings
  const edge = edgeOf(settings, stores, surroundings)
  const quotas = counts && createQuotas(counts, edge.findSite)
  const files = quotas ? limitFiles(stores.files, quotas) : stores.files
  // Without `downloads`, the platform sends the beginning of an answer before the operation has produced all of it.
  const canStream = downloads === undefined
  const trackProgress = createProgressReports(stores.progress, clock.monotonic)
  return { ...settings, ...stores, files, quotas, edge, downloads, canStream, linkTo, lease, clock, trackProgress }
}

export type StorageDeps = ReturnType<typeof createStorageDeps>

type DeliveryStores = Pick<Stores, 'sites' | 'webhooks' | 'seals' | 'history'>

interface Sending {
  readonly target: Target
  readonly clock?: Clock
}

export const createDeliveryDeps = (
  { sites, webhooks, seals, history }: DeliveryStores,
  { target, clock = systemClock }: Sending,
) => {
  const findHome = cachedLookup(async (id: SiteId) => {
    const site = await sites.getSite(id)
    return site && sites.getDataCentre(site.dataCentre)
  }, remembered(clock))
  const findSource = async (site: SiteId): Promise<string | undefined> => {
    const home = await findHome(site)
    return home && `${home.url}/api/v2/admin/sites/${site}`
  }
  return { webhooks, seals, history, findSource, target, clock }
}

export const createWebhooksDeps = (
  settings: HandledSettings,
  stores: EdgeStores & DeliveryStores,
  surroundings: Surroundings & Sending,
) => ({ ...createDeliveryDeps(stores, surroundings), edge: edgeOf(settings, stores, surroundings) })

export type WebhooksDeps = ReturnType<typeof createWebhooksDeps>
