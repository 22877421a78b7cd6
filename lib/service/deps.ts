import type { Grant } from '../access/grants.ts'
import type { ListDeps } from '../categories/association-list.ts'
import type { CategoriesSettings, DocumentationSettings, EdgeSettings, FileSettings } from '../config/config.ts'
import { cachedLookup } from '../core/cached-lookup.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { SiteId } from '../core/ids.ts'
import type { WebForms } from '../fields/web-forms.ts'
import type { History } from '../history/history.ts'
import type { EdgeDeps } from '../http/handler.ts'
import { type KeepReply, keepReplies } from '../http/kept-replies.ts'
import type { Telemetry } from '../http/request.ts'
import { findHere } from '../http/resolve-site.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'
import type { StorageStores } from '../storage/engine.ts'
import type { RemovalQueue } from '../storage/folder-removals.ts'
import type { ObjectInfo, Staged } from '../storage/object-store.ts'
import type { UploadProgress } from '../storage/upload-progress.ts'
import { type LeaseTerms, renewedLease } from '../storage/uploads/lease.ts'
import type { UploadParts } from '../storage/uploads/upload-parts.ts'
import type { UploadRecords } from '../storage/uploads/upload-records.ts'
import type { Stores } from './stores.ts'

/** What every group of operations has around it, whatever its stores are. */
export interface Surroundings {
  readonly telemetry: Telemetry
  /** The system's clock unless told. */
  readonly clock?: Clock
}

/** How long tokens and sites are remembered: a revoked token works no longer than this. In milliseconds. */
const directoryTtl = 20_000

/** How many tokens, sites and data centres are remembered, each. */
const directorySize = 10_000

type EdgeStores = Pick<Stores, 'sites' | 'grants'>

/** What admits requests where nobody has to say who calls. */
const openEdge = (
  { dataCentre }: Pick<EdgeSettings, 'dataCentre'>,
  { sites }: Pick<EdgeStores, 'sites'>,
  { telemetry, clock = systemClock }: Surroundings,
): EdgeDeps => {
  const remembered = { ttl: directoryTtl, max: directorySize, now: clock.monotonic }
  return {
    dataCentre,
    findGrant: async () => undefined,
    findSite: cachedLookup<SiteId, Site>((id) => sites.getSite(id), remembered),
    findDataCentre: cachedLookup<string, DataCentre>((id) => sites.getDataCentre(id), remembered),
    telemetry,
    clock,
  }
}

const edgeOf = (
  settings: Pick<EdgeSettings, 'dataCentre'>,
  stores: EdgeStores,
  surroundings: Surroundings,
): EdgeDeps => {
  const { clock = systemClock } = surroundings
  const remembered = { ttl: directoryTtl, max: directorySize, now: clock.monotonic }
  return {
    ...openEdge(settings, stores, surroundings),
    findGrant: cachedLookup<string, Grant>((hash) => stores.grants.get(hash), remembered),
  }
}

export interface DocumentationDeps {
  readonly edge: EdgeDeps
  /** The data centre that answers. */
  readonly findHere: () => Promise<DataCentre>
  /** All data centres that are registered. */
  readonly findDataCentres: () => Promise<readonly DataCentre[]>
  /** Where large files are downloaded from, when that is not the service itself. */
  readonly downloadsUrl: string | undefined
  /** The folder with the console, as it is built. */
  readonly consoleFolder: string
}

export const createDocumentationDeps = (
  settings: Pick<DocumentationSettings, 'dataCentre' | 'downloadsUrl'> & {
    /** The ids of all data centres, where the directory may not be read as a whole. */
    readonly dataCentres?: readonly string[]
  },
  stores: Pick<Stores, 'sites'>,
  surroundings: Surroundings & Pick<DocumentationDeps, 'consoleFolder'>,
): DocumentationDeps => {
  const edge = openEdge(settings, stores, surroundings)
  const { dataCentres, downloadsUrl } = settings
  return {
    edge,
    findHere: () => findHere(edge),
    findDataCentres: async () => {
      if (dataCentres === undefined) return (await stores.sites.list()).dataCentres
      const found = await Promise.all(dataCentres.map((id) => edge.findDataCentre(id)))
      return found.filter((dataCentre) => dataCentre !== undefined)
    },
    downloadsUrl,
    consoleFolder: surroundings.consoleFolder,
  }
}

export interface FieldsDeps {
  readonly edge: EdgeDeps
  readonly webForms: WebForms
}

export const createFieldsDeps = (
  settings: Pick<EdgeSettings, 'dataCentre'>,
  stores: EdgeStores & Pick<Stores, 'webForms'>,
  surroundings: Surroundings,
): FieldsDeps => ({ edge: edgeOf(settings, stores, surroundings), webForms: stores.webForms })

export interface CategoriesDeps extends ListDeps {
  readonly edge: EdgeDeps
  /** Keeps pages of lists, for as long as nothing has changed. */
  readonly keep: KeepReply
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
  keep: keepReplies(() => stores.contents.state()),
})

/** How a file is handed out that is too large for an answer of the platform. */
export interface Downloads {
  /** What an answer may hold, in bytes. */
  readonly largestAnswer: number
  /** A URL that gives this very version, as an attachment, to whoever has it, for five minutes. */
  readonly urlOf: (object: ObjectInfo) => Promise<string>
}

/** A URL that gives one version of a file, as an attachment, to whoever has it. */
export interface DownloadLink {
  readonly url: string
  /** When it stops to do so, in milliseconds since the epoch. */
  readonly expires: number
}

/** Makes a link to an object, by way of the data centre that answers. */
export type LinkTo = (object: ObjectInfo, dataCentre: DataCentre) => Promise<DownloadLink>

export interface StorageDeps extends StorageStores, FileSettings {
  readonly edge: EdgeDeps
  readonly progress: UploadProgress
  readonly removalQueue: RemovalQueue
  readonly downloads: Downloads | undefined
  readonly linkTo: LinkTo
  readonly resumable: ResumableUploads
  readonly history: History
  readonly clock: Clock
}

/** What resumable uploads are kept in, and for how long a request has one to itself. */
interface ResumableUploads {
  readonly records: UploadRecords
  readonly parts: UploadParts<Staged>
  readonly lease: LeaseTerms
}

export const createStorageDeps = (
  settings: Pick<EdgeSettings, 'dataCentre'> & FileSettings,
  stores: EdgeStores &
    Pick<
      Stores,
      'files' | 'workflows' | 'removals' | 'removalQueue' | 'progress' | 'uploadRecords' | 'uploadParts' | 'history'
    >,
  surroundings: Surroundings & {
    readonly downloads?: Downloads
    readonly linkTo: LinkTo
    /** Renewed while a request lasts, unless told. */
    readonly lease?: LeaseTerms
  },
): StorageDeps => ({
  edge: edgeOf(settings, stores, surroundings),
  files: stores.files,
  workflows: stores.workflows,
  removals: stores.removals,
  removalQueue: stores.removalQueue,
  progress: stores.progress,
  history: stores.history,
  downloads: surroundings.downloads,
  linkTo: surroundings.linkTo,
  resumable: {
    records: stores.uploadRecords,
    parts: stores.uploadParts,
    lease: surroundings.lease ?? renewedLease,
  },
  reservedFolders: settings.reservedFolders,
  largestFile: settings.largestFile,
  largestResumableFile: settings.largestResumableFile,
  clock: surroundings.clock ?? systemClock,
})
