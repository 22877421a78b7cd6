import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb'
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
import { createCategoriesHandler } from '../functions/categories/group.ts'
import { createFieldsHandler } from '../functions/fields/group.ts'
import type { ExampleCaller } from '../functions/operation-doc.ts'
import { stage as files } from '../functions/storage/stage.doc.ts'
import { type Grant, hashToken, newToken } from '../lib/access/token.ts'
import { createTokensTable } from '../lib/access/tokens-table.ts'
import { createCategoriesDeps, createFieldsDeps } from '../lib/deps.ts'
import type { SiteId } from '../lib/ids.ts'
import { createSitesTable } from '../lib/sites/sites-table.ts'
import { createPagesTable } from '../lib/storage/pages-table.ts'
import { toStoragePath } from '../lib/storage/path.ts'
import { openDataDirectory } from '../local/data-directory.ts'
import { connectToTables, embeddedTableNames as names } from '../local/embedded-tables.ts'
import type { RunningService } from '../local/service.ts'
import { closerOf } from '../server/close-server.ts'
import { createServer } from '../server/create-server.ts'

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

const telemetry = { request: () => undefined }

const issueToken = async (
  documents: DynamoDBDocumentClient,
  { sites, permissions }: Pick<Grant, 'sites' | 'permissions'>,
): Promise<string> => {
  const token = newToken()
  const expires = Math.floor(Date.now() / 1000) + 3600
  const grant = { hash: hashToken(token), user: 'example', sites, permissions, expires }
  await createTokensTable(documents, names.tokens).put(grant)
  return token
}

/** Nothing that the service or an administrator does leaves such a record behind. */
const damageForm = (documents: DynamoDBDocumentClient) =>
  documents.send(
    new PutCommand({
      TableName: names.webForms,
      Item: { site: stage.otherSite, form: stage.damagedForm, name: 'Damaged', version: 1 },
    }),
  )

const prepareFiles = async (documents: DynamoDBDocumentClient, { baseUrl, demo }: RunningService) => {
  for (const [path, content] of Object.entries({ [files.file]: 'Hello', [files.pageInWorkflow]: '<h1>News</h1>' })) {
    const address = `${baseUrl}/api/v2/admin/sites/current/storage/${path}`
    await fetch(address, { method: 'PUT', headers: { Authorization: demo.token }, body: content })
  }
  const pages = createPagesTable(documents, names.pages)
  await pages.startWorkflow(demo.siteId, toStoragePath(files.pageInWorkflow))
  await pages.openRemoval(demo.siteId, toStoragePath(files.goingFolder), 'going')
  await pages.openRemoval(demo.siteId, toStoragePath(files.folderToGo), 'to go')
}

/** The store refuses whatever is asked of the web forms, as it does when it is asked too much. */
const throttleWebForms = (documents: DynamoDBDocumentClient) =>
  documents.middlewareStack.add(
    (next) => async (args) => {
      if ('TableName' in args.input && args.input.TableName === names.webForms) {
        throw new ProvisionedThroughputExceededException({ message: 'Throttled for an example', $metadata: {} })
      }
      return next(args)
    },
    { step: 'initialize', name: 'throttle' },
  )

/** The service over the same data, with a store that throttles the web forms and a limit on lists that the demo's news exceed. */
const openHampered = async (socket: string) => {
  const { documents, close } = connectToTables(socket)
  throttleWebForms(documents)
  const edge = { DATA_CENTRE: 'us', SITES_TABLE: names.sites, TOKENS_TABLE: names.tokens, LOG_LEVEL: 'INFO' } as const
  const resources = { documents, telemetry }
  const fields = createFieldsHandler(createFieldsDeps({ ...edge, WEB_FORMS_TABLE: names.webForms }, resources))
  const lists = { CONTENT_TABLE: names.content, CATEGORY_LINKS_TABLE: names.categoryLinks, LONGEST_LIST: 10 }
  const categories = createCategoriesHandler(createCategoriesDeps({ ...edge, ...lists }, resources))
  const server = createServer((path) => (path.startsWith('/api/v1') ? fields : categories))
  const closeServer = closerOf(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await closeServer()
      await close()
    },
  }
}

/** Prepares a service that runs on a data directory of its own. */
export const prepareStage = async (service: RunningService, dataDirectory: string): Promise<Stage> => {
  const { socket } = openDataDirectory(dataDirectory)
  const { documents, close } = connectToTables(socket)
  const { siteId } = service.demo
  try {
    await createSitesTable(documents, names.sites).createSite({
      id: stage.otherSite,
      name: 'Other site',
      dataCentre: 'us',
      renderingEngine: false,
    })
    await damageForm(documents)
    await prepareFiles(documents, service)
    const hampered = await openHampered(socket)
    return {
      baseUrl: service.baseUrl,
      hamperedUrl: hampered.url,
      tokens: {
        nobody: undefined,
        'without permission': await issueToken(documents, { sites: [siteId], permissions: [] }),
        'of two sites': await issueToken(documents, { sites: [siteId, stage.otherSite], permissions: ['files'] }),
      },
      close: hampered.close,
    }
  } finally {
    await close()
  }
}
