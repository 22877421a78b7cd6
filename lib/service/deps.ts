import { type Caller, findCaller } from '../access/callers.ts'
import { createUseLog } from '../access/keys.ts'
import type { ListDeps } from '../categories/lists.ts'
import type { CategoriesSettings, DocumentationSettings, EdgeSettings, FileSettings } from '../config/config.ts'
import { cachedLookup } from '../core/cached-lookup.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { SiteId } from '../core/ids.ts'
import type { EdgeDeps } from '../http/handler.ts'
import { type CacheReply, createReplyCache } from '../http/reply-cache.ts'
import type { Telemetry } from '../http/request.ts'
import { createRequestLimit } from '../http/request-limit.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'
import type { ObjectInfo } from '../storage/object-store.ts'
import { createQuotas, limitFiles, type Quotas, type UsageCounts } from '../storage/quota.ts'
import { type LeaseTerms, renewedLease } from '../storage/uploads/lease.ts'
import type { Stores } from './stores.ts'

export interface Surroundings {
  readonly telemetry: Telemetry
  readonly clock?: Clock
}

// In milliseconds. A revoked token stops working after this time at the latest.
const directoryTtl = 20_000

type EdgeStores = Pick<Stores, 'sites' | 'grants' | 'people'>

type HandledSettings = Pick<EdgeSettings, 'dataCentre'> &
  Partial<Pick<EdgeSettings, 'requestsPerToken' | 'requestsPerSite'>>

const edgeOf = (
  { dataCentre, requestsPerToken = 0, requestsPerSite = 0 }: HandledSettings,
  { sites, grants, people }: Pick<Stores, 'sites'> & Partial<EdgeStores>,
  { telemetry, clock = systemClock }: Surroundings,
): EdgeDeps => {
  const remembered = { ttl: directoryTtl, max: 10_000, now: clock.monotonic }
  const noteUse = grants && createUseLog(grants, clock.wall)
  return {
    dataCentre,
    findCaller: cachedLookup<string, Caller>(async (hash) => {
      const caller = grants && people && (await findCaller({ grants, people }, hash))
      if (caller) await noteUse?.(caller)
      return caller
    }, remembered),
    findSite: cachedLookup<SiteId, Site>((id) => sites.getSite(id), remembered),
    findDataCentre: cachedLookup<string, DataCentre>((id) => sites.getDataCentre(id), remembered),
    limitToken: createRequestLimit(requestsPerToken, 'with this token', clock.monotonic),
    limitSite: createRequestLimit(requestsPerSite, 'for this site', clock.monotonic),
    telemetry,
    clock,
  }
}

export const createDocumentationDeps = (
  settings: Pick<DocumentationSettings, 'dataCentre' | 'downloadsUrl' | 'keptDays'> & {
    // For a group that may not list the directory.
    readonly dataCentres?: readonly string[]
  },
  stores: Pick<Stores, 'sites'>,
  surroundings: Surroundings & { readonly consoleFolder: string },
) => {
  const edge = edgeOf(settings, stores, surroundings)
  const { dataCentres, downloadsUrl, keptDays } = settings
  return {
    edge,
    findDataCentres: async (): Promise<readonly DataCentre[]> => {
      if (dataCentres === undefined) return (await stores.sites.list()).dataCentres
      const found = await Promise.all(dataCentres.map((id) => edge.findDataCentre(id)))
      return found.filter((dataCentre) => dataCentre !== undefined)
    },
    findBaseUrl: async () => (await edge.findDataCentre(settings.dataCentre))?.url,
    // Set only if it differs from the address of the service.
    downloadsUrl,
    consoleFolder: surroundings.consoleFolder,
    keptDays,
  }
}

export type DocumentationDeps = ReturnType<typeof createDocumentationDeps>

export interface AccessSurroundings {
  /** undefined for an issuer without a client secret. */
  readonly findClientSecret: (issuer: string) => Promise<string | undefined>
  readonly insecureSignIn: boolean
}

export const createAccessDeps = (
  settings: HandledSettings,
  {
    grants,
    people,
    attempts,
    sites,
    issuers,
    accessValues,
  }: EdgeStores & Pick<Stores, 'attempts' | 'issuers' | 'accessValues'>,
  surroundings: Surroundings & Partial<AccessSurroundings>,
) => {
  const edge = edgeOf(settings, { grants, people, sites }, surroundings)
  const { insecureSignIn = false, clock = systemClock, findClientSecret = async () => undefined } = surroundings
  return {
    edge,
    grants,
    people,
    attempts,
    issuers,
    accessValues,
    findSite: edge.findSite,
    clock,
    insecureSignIn,
    findClientSecret,
  }
}

export type AccessDeps = ReturnType<typeof createAccessDeps>

export const createFieldsDeps = (
  settings: HandledSettings,
  stores: EdgeStores & Pick<Stores, 'webForms'>,
  {
    checkReady,
    ...surroundings
  }: Surroundings & {
    /** V-29. Without it, a process is ready when it answers. */
    readonly checkReady?: () => Promise<void>
  },
) => ({ edge: edgeOf(settings, stores, surroundings), webForms: stores.webForms, ...(checkReady && { checkReady }) })

export type FieldsDeps = ReturnType<typeof createFieldsDeps>

export interface CategoriesDeps extends ListDeps {
  readonly edge: EdgeDeps
  readonly cacheReply: CacheReply
}

export const createCategoriesDeps = (
  settings: HandledSettings & Pick<CategoriesSettings, 'longestList'>,
  stores: EdgeStores & Pick<Stores, 'contents' | 'links'>,
  surroundings: Surroundings,
): CategoriesDeps => ({
  edge: edgeOf(settings, stores, surroundings),
  contents: stores.contents,
  links: stores.links,
  longestList: settings.longestList,
  cacheReply: createReplyCache(() => stores.contents.state()),
})

// A URL for a file that is too large for an answer of the platform.
export interface Downloads {
  readonly largestAnswer: number
  // A URL that downloads this version as an attachment, for five minutes.
  readonly urlOf: (object: ObjectInfo) => Promise<string>
}

export interface DownloadLink {
  readonly url: string
  // In milliseconds since the epoch.
  readonly expires: number
}

export type LinkTo = (object: ObjectInfo, dataCentre: DataCentre) => Promise<DownloadLink>

export type FileStores = Pick<
  Stores,
  | 'files'
  | 'workflows'
  | 'removals'
  | 'removalQueue'
  | 'progress'
  | 'uploadRecords'
  | 'uploadParts'
  | 'directParts'
  | 'history'
  | 'live'
>

export interface StorageDeps extends FileStores, FileSettings {
  readonly quotas: Quotas | undefined
  readonly edge: EdgeDeps
  readonly downloads: Downloads | undefined
  /** The platform sends an answer while the operation still makes it. */
  readonly canStream: boolean
  readonly linkTo: LinkTo
  readonly lease: LeaseTerms
  readonly clock: Clock
}

export const createStorageDeps = (
  settings: HandledSettings & FileSettings,
  // On one machine the transactions of the stores count the bytes.
  { counts, ...stores }: EdgeStores & FileStores & { readonly counts?: UsageCounts },
  surroundings: Surroundings & {
    readonly downloads?: Downloads
    readonly linkTo: LinkTo
    readonly lease?: LeaseTerms
  },
): StorageDeps => {
  const { downloads, linkTo, lease = renewedLease, clock = systemClock } = surroundings
  const edge = edgeOf(settings, stores, surroundings)
  const quotas = counts && createQuotas(counts, edge.findSite)
  const files = quotas ? limitFiles(stores.files, quotas) : stores.files
  // Only a platform that sends whole answers limits their size.
  const canStream = downloads === undefined
  return { ...settings, ...stores, files, quotas, edge, downloads, canStream, linkTo, lease, clock }
}
