import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { ServedGroup } from '../../cdk/functions.ts'
import { createCategoriesHandler } from '../../functions/categories/group.ts'
import { createDocumentationHandler } from '../../functions/documentation/group.ts'
import { createFieldsHandler } from '../../functions/fields/group.ts'
import { hashToken, newToken } from '../../lib/access/token.ts'
import { createTokensTable } from '../../lib/access/tokens-table.ts'
import { withDefaults } from '../../lib/categories/content-defaults.ts'
import { createContentTable } from '../../lib/categories/content-table.ts'
import { createCategoriesDeps, createDocumentationDeps, createFieldsDeps, type Resources } from '../../lib/deps.ts'
import { createWebFormsTable } from '../../lib/fields/web-forms-table.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { SiteId, WebFormId } from '../../lib/ids.ts'
import { createSitesTable } from '../../lib/sites/sites-table.ts'
import { embeddedTableNames } from '../../local/embedded-tables.ts'
import { openTestFiles } from './files.ts'
import { send } from './gateway.ts'

const config = {
  DATA_CENTRE: 'us',
  SITES_TABLE: embeddedTableNames.sites,
  TOKENS_TABLE: embeddedTableNames.tokens,
  WEB_FORMS_TABLE: embeddedTableNames.webForms,
  CONTENT_TABLE: embeddedTableNames.content,
  CATEGORY_LINKS_TABLE: embeddedTableNames.categoryLinks,
  LONGEST_LIST: 20_000,
  LOG_LEVEL: 'INFO',
} as const

const site = 1001 as SiteId

/** A site with everything enabled, in the data centre `us`; answers a token with every permission for it. */
export const fillDirectory = async (documents: DynamoDBDocumentClient): Promise<string> => {
  const sites = createSitesTable(documents, config.SITES_TABLE)
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await sites.createSite({ id: site, name: 'Own', dataCentre: 'us', renderingEngine: true })
  const token = newToken()
  const expires = Math.floor(Date.now() / 1000) + 3600
  const grant = { hash: hashToken(token), user: 'ann', sites: [site], permissions: ['files' as const], expires }
  await createTokensTable(documents, config.TOKENS_TABLE).put(grant)
  return token
}

export interface Request {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** An object is sent as JSON, text as a multipart body. */
  readonly body?: object | string
  /** There is no way in which the operation succeeds. */
  readonly refused?: true
}

/** Requests that exercise every operation of a group, in an order in which all of them succeed. */
export interface Exercise {
  readonly group: ServedGroup
  /** What must be there before. */
  readonly fill: (documents: DynamoDBDocumentClient) => Promise<unknown>
  readonly open: (resources: Resources) => Promise<{ readonly handler: Handler; close(): Promise<void> }>
  readonly requests: readonly Request[]
}

const v1 = `/api/v1/admin/sites/${site}`
const form = `${v1}/webforms/1/fields/system`
const v3 = `/webresources/api/v3/sites/${site}`

const fields: Exercise = {
  group: 'fields',
  fill: (documents) =>
    createWebFormsTable(documents, config.WEB_FORMS_TABLE).create({
      site,
      id: 1 as WebFormId,
      name: 'Contact us',
      fields: [],
    }),
  open: async (resources) => ({
    handler: createFieldsHandler(createFieldsDeps(config, resources)),
    close: async () => {},
  }),
  requests: [
    { method: 'GET', target: '/health' },
    { method: 'POST', target: form, body: { type: { id: -2 }, mandatory: true } },
    { method: 'PUT', target: `${form}/-2`, body: { mandatory: false } },
    { method: 'GET', target: form },
    { method: 'GET', target: `${form}/-2` },
    { method: 'DELETE', target: `${form}/-2` },
    { method: 'GET', target: `${v1}/webforms` },
    { method: 'GET', target: `${v1}/webforms/1` },
    { method: 'GET', target: `${v1}/webformfieldtypes/system` },
  ],
}

const documentation: Exercise = {
  group: 'documentation',
  fill: async () => undefined,
  open: async (resources) => ({
    handler: createDocumentationHandler(createDocumentationDeps(config, resources)),
    close: async () => {},
  }),
  requests: [
    { method: 'GET', target: '/openapi.json' },
    { method: 'GET', target: '/docs' },
    { method: 'GET', target: '/docs/swagger-ui.css' },
  ],
}

const linking = (kind: 'news' | 'blogs'): readonly Request[] => {
  const list = `${v3}/categories/5/${kind}`
  return [
    { method: 'POST', target: list, body: { items: [{ objectId: 1 }] } },
    { method: 'POST', target: list, body: { items: [{ objectId: 1, displayable: 0 }] } },
    { method: 'GET', target: list },
    {
      method: 'GET',
      target: `${list}?order=-id&where={"id":1}&fields=objectId,category,${kind === 'news' ? kind : 'blog'}`,
    },
    { method: 'GET', target: `${list}?cursor=&count=true` },
    { method: 'GET', target: `${v3}/${kind}/1/categories` },
    { method: 'GET', target: `${v3}/${kind}/1/categories?order=name` },
    { method: 'DELETE', target: list, body: { items: [{ objectId: 1 }] } },
  ]
}

const categories: Exercise = {
  group: 'categories',
  async fill(client) {
    const content = createContentTable({ client, table: config.CONTENT_TABLE })
    await content.putMany(site, 'category', [{ id: 5, name: 'Five' }])
    await content.putMany(site, 'news', [withDefaults('news', { id: 1, body: '<p>Text</p>' }, 0)])
    await content.putMany(site, 'blog', [withDefaults('blog', { id: 1 }, 0)])
  },
  open: async (resources) => ({
    handler: createCategoriesHandler(createCategoriesDeps(config, resources)),
    close: async () => {},
  }),
  requests: [
    ...linking('news'),
    ...linking('blogs'),
    { method: 'GET', target: `${v3}/categories` },
    { method: 'GET', target: `${v3}/categories?order=name` },
    { method: 'GET', target: `${v3}/categories/5` },
  ],
}

const v2 = `/api/v2/admin/sites/${site}/storage`
const boundary = 'boundary'

/** A multipart body with files of these names. */
const multipart = (names: readonly string[]): string => {
  const parts = names.map(
    (name) => `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\ntext\r\n`,
  )
  return `${parts.join('')}--${boundary}--\r\n`
}

/** More files than one page of a listing has: the removal of their folder goes on record. */
const largeFolder: readonly Request[] = Array.from({ length: 11 }, (_, batch) => ({
  method: 'POST',
  target: `${v2}/large`,
  body: multipart(Array.from({ length: 100 }, (_, index) => `${batch}-${index}.txt`)),
}))

const storage: Exercise = {
  group: 'storage',
  fill: async () => undefined,
  open: (resources) => openTestFiles({ ...resources, names: embeddedTableNames }),
  requests: [
    { method: 'PUT', target: `${v2}/folder?type=folder` },
    { method: 'PUT', target: v2, refused: true },
    { method: 'POST', target: v2, body: multipart(['a.txt']) },
    { method: 'POST', target: `${v2}/folder`, body: multipart(['page.html', 'b.txt']) },
    { method: 'PUT', target: `${v2}/folder/page.html?version=draft`, body: multipart(['page.html']) },
    { method: 'GET', target: `${v2}/folder/page.html?version=draft` },
    { method: 'PUT', target: `${v2}/folder/page.html?meta`, body: { name: 'other.html' } },
    { method: 'GET', target: `${v2}?status` },
    { method: 'GET', target: `${v2}/folder?meta` },
    { method: 'DELETE', target: `${v2}/folder/other.html` },
    { method: 'DELETE', target: `${v2}/folder` },
    { method: 'DELETE', target: v2, refused: true },
    ...largeFolder,
    { method: 'DELETE', target: `${v2}/large` },
    { method: 'GET', target: `${v2}/a.txt` },
  ],
}

export const exercises: readonly Exercise[] = [documentation, fields, categories, storage]

/** Sends a request of an exercise. Throws an Error when it does not end as it should. */
export const perform = async (handler: Handler, token: string, request: Request): Promise<void> => {
  const { method, target, body, refused = false } = request
  const [path = '', search] = target.split('?')
  const query = Object.fromEntries(new URLSearchParams(search))
  const type = typeof body === 'string' && { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
  const answer = await send(handler, method, path, {
    headers: { Authorization: token, ...type },
    query,
    ...(body && { body }),
  })
  if (answer.status >= 300 !== refused) throw new Error(`${method} ${target}: ${answer.status} ${answer.body}`)
}
