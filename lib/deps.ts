import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Grant } from './access/token.ts'
import { createTokensTable } from './access/tokens-table.ts'
import { cachedLookup } from './cached-lookup.ts'
import type { ListDeps } from './categories/association-list.ts'
import { createCategoryLinksTable } from './categories/category-links-table.ts'
import { createContentTable } from './categories/content-table.ts'
import { type Clock, systemClock } from './clock.ts'
import type { CategoriesConfig, DocumentationConfig, EdgeConfig, FieldsConfig, StorageConfig } from './config.ts'
import { createWebFormsTable, type WebFormsTable } from './fields/web-forms-table.ts'
import type { EdgeDeps } from './http/handler.ts'
import type { Telemetry } from './http/observe.ts'
import { findHere } from './http/resolve-site.ts'
import type { SiteId } from './ids.ts'
import type { DataCentre, Site } from './sites/site.ts'
import { createSitesTable } from './sites/sites-table.ts'
import type { ObjectStore } from './storage/object-store.ts'
import { createPagesTable, type PagesTable } from './storage/pages-table.ts'
import type { RemovalQueue } from './storage/removal-queue.ts'
import { createUploadsTable, type UploadsTable } from './storage/uploads-table.ts'

/** The composition root: what the functions run on is put together here and nowhere else. */
export interface Resources {
  readonly documents: DynamoDBDocumentClient
  /** Reaches the directory; the same client unless the directory is in another region. */
  readonly directory?: DynamoDBDocumentClient
  readonly telemetry: Telemetry
  /** The system's clock unless told. */
  readonly clock?: Clock
}

/** How long tokens and sites are remembered: a revoked token works no longer than this. In milliseconds. */
const directoryTtl = 20_000

/** How many tokens, sites and data centres are remembered, each. */
const directorySize = 10_000

/** What the core needs where nobody has to say who calls. */
const openEdgeDeps = (
  config: DocumentationConfig,
  { documents, directory = documents, telemetry, clock = systemClock }: Resources,
): EdgeDeps => {
  const sites = createSitesTable(directory, config.SITES_TABLE)
  const remembered = { ttl: directoryTtl, now: clock.monotonic }
  return {
    dataCentre: config.DATA_CENTRE,
    findGrant: async () => undefined,
    findSite: cachedLookup<SiteId, Site>((id) => sites.getSite(id), { ...remembered, max: directorySize }),
    findDataCentre: cachedLookup<string, DataCentre>((id) => sites.getDataCentre(id), {
      ...remembered,
      max: directorySize,
    }),
    telemetry,
    clock,
  }
}

const edgeDeps = (config: EdgeConfig, resources: Resources): EdgeDeps => {
  const { documents, directory = documents, clock = systemClock } = resources
  const tokens = createTokensTable(directory, config.TOKENS_TABLE)
  const remembered = { ttl: directoryTtl, max: directorySize, now: clock.monotonic }
  return {
    ...openEdgeDeps(config, resources),
    findGrant: cachedLookup<string, Grant>((hash) => tokens.get(hash), remembered),
  }
}

export interface DocumentationDeps {
  readonly edge: EdgeDeps
  /** The data centre that answers. */
  readonly findHere: () => Promise<DataCentre>
}

export const createDocumentationDeps = (config: DocumentationConfig, resources: Resources): DocumentationDeps => {
  const edge = openEdgeDeps(config, resources)
  return { edge, findHere: () => findHere(edge) }
}

export interface FieldsDeps {
  readonly edge: EdgeDeps
  readonly webForms: WebFormsTable
}

export const createFieldsDeps = (config: FieldsConfig, resources: Resources): FieldsDeps => ({
  edge: edgeDeps(config, resources),
  webForms: createWebFormsTable(resources.documents, config.WEB_FORMS_TABLE),
})

export interface CategoriesDeps extends ListDeps {
  readonly edge: EdgeDeps
}

export const createCategoriesDeps = (config: CategoriesConfig, resources: Resources): CategoriesDeps => ({
  edge: edgeDeps(config, resources),
  content: createContentTable({ client: resources.documents, table: config.CONTENT_TABLE }),
  links: createCategoryLinksTable({ client: resources.documents, table: config.CATEGORY_LINKS_TABLE }),
  longestList: config.LONGEST_LIST,
})

/** Where the storage keeps its files: chosen by who runs it, so that no function carries a store that it does not use. */
export interface StorageResources extends Resources {
  readonly store: ObjectStore
  readonly removals: RemovalQueue
  readonly downloads?: Downloads
}

/** How a file is handed out that is too large for an answer of the platform. */
interface Downloads {
  /** What an answer may hold, in bytes. */
  readonly largestAnswer: number
  /** A URL that gives this very object to whoever has it, for a few minutes. */
  readonly urlOf: (key: string) => Promise<string>
}

export interface StorageDeps {
  readonly edge: EdgeDeps
  readonly store: ObjectStore
  readonly pages: PagesTable
  readonly uploads: UploadsTable
  readonly removals: RemovalQueue
  readonly downloads: Downloads | undefined
  readonly reservedFolders: readonly string[]
  /** Bytes. */
  readonly largestFile: number
  readonly now: () => number
}

export const createStorageDeps = (config: StorageConfig, resources: StorageResources): StorageDeps => {
  const { documents, store, removals, downloads, clock = systemClock } = resources
  const now = clock.wall
  return {
    edge: edgeDeps(config, resources),
    store,
    pages: createPagesTable(documents, config.PAGES_TABLE, now),
    uploads: createUploadsTable(documents, config.UPLOADS_TABLE, now),
    removals,
    downloads,
    reservedFolders: config.RESERVED_FOLDERS,
    largestFile: config.LARGEST_FILE,
    now,
  }
}
