import type { Grant } from '../access/grants.ts'
import type { ListDeps } from '../categories/lists.ts'
import type { CategoriesSettings, DocumentationSettings, EdgeSettings, FileSettings } from '../config/config.ts'
import { cachedLookup } from '../core/cached-lookup.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { SiteId } from '../core/ids.ts'
import type { EdgeDeps } from '../http/handler.ts'
import { type CacheReply, createReplyCache } from '../http/reply-cache.ts'
import type { Telemetry } from '../http/request.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'
import type { ObjectInfo } from '../storage/object-store.ts'
import { type LeaseTerms, renewedLease } from '../storage/uploads/lease.ts'
import type { Stores } from './stores.ts'

export interface Surroundings {
  readonly telemetry: Telemetry
  readonly clock?: Clock
}

// In milliseconds. A revoked token works no longer than this.
const directoryTtl = 20_000

type EdgeStores = Pick<Stores, 'sites' | 'grants'>

const edgeOf = (
  { dataCentre }: Pick<EdgeSettings, 'dataCentre'>,
  { sites, grants }: Pick<Stores, 'sites'> & Partial<EdgeStores>,
  { telemetry, clock = systemClock }: Surroundings,
): EdgeDeps => {
  const remembered = { ttl: directoryTtl, max: 10_000, now: clock.monotonic }
  return {
    dataCentre,
    findGrant: cachedLookup<string, Grant>(async (hash) => grants?.get(hash), remembered),
    findSite: cachedLookup<SiteId, Site>((id) => sites.getSite(id), remembered),
    findDataCentre: cachedLookup<string, DataCentre>((id) => sites.getDataCentre(id), remembered),
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
    // Only if another address than the service's.
    downloadsUrl,
    consoleFolder: surroundings.consoleFolder,
    keptDays,
  }
}

export type DocumentationDeps = ReturnType<typeof createDocumentationDeps>

export const createFieldsDeps = (
  settings: Pick<EdgeSettings, 'dataCentre'>,
  stores: EdgeStores & Pick<Stores, 'webForms'>,
  surroundings: Surroundings,
) => ({ edge: edgeOf(settings, stores, surroundings), webForms: stores.webForms })

export type FieldsDeps = ReturnType<typeof createFieldsDeps>

export interface CategoriesDeps extends ListDeps {
  readonly edge: EdgeDeps
  readonly cacheReply: CacheReply
}

export const createCategoriesDeps = (
  settings: Pick<CategoriesSettings, 'dataCentre' | 'longestList'>,
  stores: EdgeStores & Pick<Stores, 'contents' | 'links'>,
  surroundings: Surroundings,
): CategoriesDeps => ({
  edge: edgeOf(settings, stores, surroundings),
  contents: stores.contents,
  links: stores.links,
  longestList: settings.longestList,
  cacheReply: createReplyCache(() => stores.contents.state()),
})

// For files that are too large for an answer of the platform.
export interface Downloads {
  readonly largestAnswer: number
  // For this version, as an attachment, valid for five minutes.
  readonly urlOf: (object: ObjectInfo) => Promise<string>
}

export interface DownloadLink {
  readonly url: string
  // Milliseconds since the epoch.
  readonly expires: number
}

export type LinkTo = (object: ObjectInfo, dataCentre: DataCentre) => Promise<DownloadLink>

type FileStores = Pick<
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
>

export interface StorageDeps extends FileStores, FileSettings {
  readonly edge: EdgeDeps
  readonly downloads: Downloads | undefined
  readonly linkTo: LinkTo
  readonly lease: LeaseTerms
  readonly clock: Clock
}

export const createStorageDeps = (
  settings: Pick<EdgeSettings, 'dataCentre'> & FileSettings,
  stores: EdgeStores & FileStores,
  surroundings: Surroundings & {
    readonly downloads?: Downloads
    readonly linkTo: LinkTo
    readonly lease?: LeaseTerms
  },
): StorageDeps => {
  const { downloads, linkTo, lease = renewedLease, clock = systemClock } = surroundings
  return { ...settings, ...stores, edge: edgeOf(settings, stores, surroundings), downloads, linkTo, lease, clock }
}
