import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCategoriesHandler } from '../functions/categories/group.ts'
import { createDocumentationHandler } from '../functions/documentation/group.ts'
import { createFieldsHandler } from '../functions/fields/group.ts'
import { createTokensTable } from '../lib/access/tokens-table.ts'
import { createCategoryLinksTable } from '../lib/categories/category-links-table.ts'
import { createContentTable } from '../lib/categories/content-table.ts'
import { readLocalStorageConfig, standardLongestList } from '../lib/config.ts'
import { createCategoriesDeps, createDocumentationDeps, createFieldsDeps } from '../lib/deps.ts'
import { createWebFormsTable } from '../lib/fields/web-forms-table.ts'
import type { Telemetry } from '../lib/http/observe.ts'
import { createSitesTable } from '../lib/sites/sites-table.ts'
import { closerOf } from '../server/close-server.ts'
import { createServer } from '../server/create-server.ts'
import { dispatch } from '../server/dispatch.ts'
import { lockDataDirectory, openDataDirectory, resetDataDirectory, UsageError } from './data-directory.ts'
import { type Demo, ensureDemo } from './demo-data.ts'
import { type EmbeddedTables, embeddedTableNames, openEmbeddedTables } from './embedded-tables.ts'
import { registerDataCentres } from './register-data-centres.ts'
import { openStorageService, type StorageService } from './storage-service.ts'

export interface DataCentreListener {
  readonly id: string
  /** 0 takes any free port. */
  readonly port: number
}

interface Options {
  readonly dataDirectory: string
  /** The first one is the home of the demo site. */
  readonly dataCentres: readonly [DataCentreListener, ...DataCentreListener[]]
  readonly reset: boolean
  readonly telemetry: Telemetry
}

export interface RunningService {
  readonly baseUrl: string
  readonly dataCentres: Readonly<Record<string, string>>
  readonly demo: Demo
  /** Answers the requests in flight, then lets go of the data directory. */
  stop(): Promise<void>
}

const host = '127.0.0.1'

const listen = async (server: Server, port: number): Promise<string> => {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new UsageError(`Port ${port} is taken. Choose another one with --port or --data-centres.`)
    if (code === 'EACCES')
      throw new UsageError(`Port ${port} needs more rights than this user has. Choose one above 1023.`)
    throw error
  }
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

const handlersOf = (
  dataCentre: string,
  { documents }: EmbeddedTables,
  storage: StorageService,
  telemetry: Telemetry,
): Parameters<typeof dispatch>[0] => {
  const edge = {
    DATA_CENTRE: dataCentre,
    SITES_TABLE: embeddedTableNames.sites,
    TOKENS_TABLE: embeddedTableNames.tokens,
    LOG_LEVEL: 'INFO',
  } as const
  const fields = { ...edge, WEB_FORMS_TABLE: embeddedTableNames.webForms }
  const categories = {
    ...edge,
    CONTENT_TABLE: embeddedTableNames.content,
    CATEGORY_LINKS_TABLE: embeddedTableNames.categoryLinks,
    LONGEST_LIST: standardLongestList,
  }
  const resources = { documents, telemetry }
  return {
    documentation: createDocumentationHandler(createDocumentationDeps(edge, resources)),
    fields: createFieldsHandler(createFieldsDeps(fields, resources)),
    categories: createCategoriesHandler(createCategoriesDeps(categories, resources)),
    storage: storage.handlerOf(edge, telemetry),
  }
}

/** Everything in one process: a listener for each data centre over one data directory. Throws UsageError or SettingsError for what a person can put right. */
export const startService = async ({
  dataDirectory,
  dataCentres,
  reset,
  telemetry,
}: Options): Promise<RunningService> => {
  const storageConfig = readLocalStorageConfig()
  const directory = openDataDirectory(dataDirectory)
  const lock = lockDataDirectory(directory)
  if (!lock)
    throw new UsageError(
      `The data directory ${directory.path} is in use by another process. Stop that one, or choose another with --data-dir.`,
    )
  const closers: (() => Promise<void> | void)[] = [() => lock.release()]
  const stop = async () => {
    for (const closeNext of closers.splice(0).reverse()) await closeNext()
  }

  try {
    if (reset) resetDataDirectory(directory)
    const tables = await openEmbeddedTables(directory, directory.socket)
    closers.push(() => tables.close())
    const storage = await openStorageService(directory, tables, storageConfig)
    closers.push(() => storage.close())
    const sites = createSitesTable(tables.documents, embeddedTableNames.sites)
    const tokens = createTokensTable(tables.documents, embeddedTableNames.tokens)
    const webForms = createWebFormsTable(tables.documents, embeddedTableNames.webForms)
    const content = createContentTable({ client: tables.documents, table: embeddedTableNames.content })
    const links = createCategoryLinksTable({ client: tables.documents, table: embeddedTableNames.categoryLinks })

    const urls: Record<string, string> = {}
    const servers = dataCentres.map(({ id, port }) => {
      const server = createServer(dispatch(handlersOf(id, tables, storage, telemetry)))
      return { id, port, server, close: closerOf(server) }
    })
    closers.push(async () => {
      await Promise.all(servers.filter(({ server }) => server.listening).map(({ close }) => close()))
    })
    for (const { id, port, server } of servers) urls[id] = await listen(server, port)
    await registerDataCentres(sites, urls, dataCentres[0].id)
    const demo = await ensureDemo(directory, { sites, tokens, webForms, content, links }, dataCentres[0].id)
    return { baseUrl: urls[dataCentres[0].id] ?? '', dataCentres: urls, demo, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
