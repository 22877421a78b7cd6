import { join } from 'node:path'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { ServedGroup } from '../../cdk/config/functions.ts'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { hashToken, issueGrant } from '../../lib/access/grants.ts'
import { addIssuer, addRule } from '../../lib/access/issuers/issuers.ts'
import { issueKey } from '../../lib/access/keys.ts'
import { beginSession, hashPassword } from '../../lib/access/sign-in.ts'
import { createWebhookLeases } from '../../lib/aws/dynamodb/webhooks.ts'
import { openFileStores } from '../../lib/aws/open-files.ts'
import { type ObjectKind, objectKindNames, withDefaults } from '../../lib/core/content-kinds.ts'
import type { SiteId, WebFormId } from '../../lib/core/ids.ts'
import { objectKinds } from '../../lib/core/object-kinds.ts'
import { areas, rightOf } from '../../lib/core/rights.ts'
import { systemClock } from '../../lib/core/time.ts'
import type { Handler } from '../../lib/http/request.ts'
import { createStorageDeps, type Surroundings } from '../../lib/service/deps.ts'
import type { Stores } from '../../lib/service/stores.ts'
import { createTarget } from '../../lib/webhooks/target.ts'
import type { SecretSeals } from '../../lib/webhooks/webhooks.ts'
import { createFastClients } from './bucket.ts'
import { send } from './gateway.ts'
import { openHandler } from './handlers.ts'
import { entry } from './history.ts'
import { createMemoryS3 } from './memory-s3.ts'
import { formHeaders, multipart } from './multipart.ts'
import { testPerson } from './people.ts'
import { openTableStores, ownNames, tableSettings } from './tables.ts'
import { startProvider } from './token-issuer.ts'
import { testWebhook } from './webhooks.ts'

const settings = { dataCentre: 'us', dataCentres: ['us'], longestList: 20_000, keptDays: 30 }

const consoleFolder = join(import.meta.dirname, '..', '..', 'console', 'dist')

export const storesOver = (dynamodb: DynamoDBDocumentClient, now?: () => number) =>
  openTableStores(ownNames, { dynamodb, now })

export const site = 1001 as SiteId

/** Creates a site with the rendering engine in the data centre `us`. Returns a token with every permission for it. */
export const fillDirectory = async ({ sites, grants }: Pick<Stores, 'sites' | 'grants'>): Promise<string> => {
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await sites.createSite({ id: site, name: 'Own', dataCentre: 'us', renderingEngine: true }, entry)
  const expires = Math.floor(Date.now() / 1000) + 3600
  return (await issueGrant(grants, { user: 'ann', sites: [site], permissions: ['files'], expires })).token
}

/** Creates an owner of that site. Returns the token of a session. */
export const addOwner = async ({ grants, people }: Pick<Stores, 'grants' | 'people'>): Promise<string> => {
  const person = testPerson()
  await people.create(person, [])
  return beginSession({ grants, clock: systemClock }, person)
}

const everything = areas.map((area) => rightOf(`${area}:write`))
const openKey = { name: 'Deployment', rights: everything, expires: 4_000_000_000 }

/** Creates an owner of that site. Returns a key of that person with every right. */
export const addKey = async (stores: Pick<Stores, 'grants' | 'people'>): Promise<string> => {
  await addOwner(stores)
  return (await issueKey(stores.grants, testPerson(), site, openKey, { actor: 'ann' })).key
}

export interface Request {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged, bytes as a multipart body, objects as JSON. */
  readonly body?: object | string
  readonly refused?: true
  /** A folder is filled with many such requests, so tests that repeat requests send these once. */
  readonly fills?: true
  /** Signs in with this body, and sends the request with the token of the new session. */
  readonly as?: object
}

/** Requests that exercise every operation of a group, in an order in which every request succeeds. */
export interface Exercise {
  readonly group: ServedGroup
  readonly fill: (dynamodb: DynamoDBDocumentClient) => Promise<unknown>
  readonly open: (dynamodb: DynamoDBDocumentClient, surroundings: Surroundings) => Handler | Promise<Handler>
  readonly requests: readonly Request[]
  readonly work?: (dynamodb: DynamoDBDocumentClient) => Promise<unknown>
}

type OwnStores = ReturnType<typeof storesOver>

const onTables =
  (createHandler: (stores: OwnStores, surroundings: Surroundings) => Handler): Exercise['open'] =>
  (dynamodb, surroundings) =>
    createHandler(storesOver(dynamodb), surroundings)

const v1 = `/api/v1/admin/sites/${site}`
const form = `${v1}/webforms/1/fields/system`
const v3 = `/webresources/api/v3/sites/${site}`

const fields: Exercise = {
  group: 'fields',
  fill: (dynamodb) =>
    storesOver(dynamodb).webForms.create({ site, id: 1 as WebFormId, name: 'Contact us', fields: [] }, entry),
  open: onTables((stores, surroundings) => openHandler.fields(settings, stores, surroundings)),
  requests: [
    { method: 'GET', target: '/' },
    { method: 'GET', target: '/health' },
    { method: 'GET', target: '/api/v1/admin/sites' },
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
  open: onTables((stores, surroundings) =>
    openHandler.documentation(settings, stores, { ...surroundings, consoleFolder }),
  ),
  requests: [
    { method: 'GET', target: '/openapi.json' },
    { method: 'GET', target: '/docs' },
    { method: 'GET', target: '/docs/swagger-ui.css' },
    { method: 'GET', target: '/console' },
    { method: 'GET', target: '/console/licenses.txt' },
  ],
}

const linking = (kind: ObjectKind): readonly Request[] => {
  const { segment } = objectKinds[kind]
  const list = `${v3}/categories/5/${segment}`
  return [
    { method: 'POST', target: list, body: { items: [{ objectId: 1 }] } },
    { method: 'POST', target: list, body: { items: [{ objectId: 1, displayable: 0 }] } },
    { method: 'GET', target: list },
    { method: 'GET', target: `${list}?limit=1` },
    { method: 'GET', target: `${list}?order=-id&where={"id":1}&fields=objectId,category,${kind}` },
    { method: 'GET', target: `${list}?cursor=&count=true` },
    { method: 'GET', target: `${v3}/${segment}` },
    { method: 'GET', target: `${v3}/${segment}?order=-id&fields=id` },
    { method: 'GET', target: `${v3}/${segment}/1/categories` },
    { method: 'GET', target: `${v3}/${segment}/1/categories?order=name` },
    { method: 'DELETE', target: list, body: { items: [{ objectId: 1 }] } },
    { method: 'POST', target: `${v3}/${segment}/1/categories`, body: { items: [{ categoryId: 5 }] } },
    { method: 'DELETE', target: `${v3}/${segment}/1/categories`, body: { items: [{ categoryId: 5 }] } },
  ]
}

const categories: Exercise = {
  group: 'categories',
  async fill(dynamodb) {
    const { contents } = storesOver(dynamodb)
    await contents.putMany(site, 'category', [{ id: 5, name: 'Five' }], entry)
    for (const kind of objectKindNames) await contents.putMany(site, kind, [withDefaults(kind, { id: 1 }, 0)], entry)
  },
  open: onTables((stores, surroundings) => openHandler.categories(settings, stores, surroundings)),
  requests: [
    ...objectKindNames.flatMap(linking),
    { method: 'GET', target: `${v3}/categories` },
    { method: 'GET', target: `${v3}/categories?order=name` },
    { method: 'GET', target: `${v3}/categories/5` },
    { method: 'GET', target: `${v3}/siteurls` },
  ],
}

const v2 = `/api/v2/admin/sites/${site}/storage`

const filesOf = (...names: readonly string[]) => multipart(names.map((name) => ({ name })))

/** The folder has more files than two pages of a listing, so its removal is recorded. */
const largeFolder: readonly Request[] = Array.from({ length: 21 }, (_, batch) => ({
  fills: true,
  method: 'POST',
  target: `${v2}/large`,
  body: filesOf(...Array.from({ length: 100 }, (_, index) => `${batch}-${index}.txt`)),
}))

// In milliseconds. A version must be a minute old before a purge (H-35).
const ahead = 120_000
const clock = { ...systemClock, wall: () => Date.now() + ahead }

/** Files in a bucket in memory, and all other data of the storage in the tables. */
export const openStorageOver = (dynamodb: DynamoDBDocumentClient, surroundings: Surroundings) => {
  const tables = { ...tableSettings(ownNames), filesBucket: 'files', keptDays: 30, removalsQueueUrl: '' }
  const s3 = createFastClients(tables.filesBucket, createMemoryS3())
  const given = { dynamodb, once: dynamodb, s3, now: clock.wall }
  const { downloads, linkTo, ...files } = openFileStores(tables, given)
  const stores = { ...storesOver(dynamodb, clock.wall), ...files, removalQueue: { send: async () => 'message' } }
  const deps = createStorageDeps(
    { ...settings, largestFile: 100_000, largestResumableFile: 100_000, reservedFolders: [] },
    stores,
    { clock, downloads, linkTo, lease: { lasts: 33_000 }, ...surroundings },
  )
  return { handler: createStorageHandler(deps), deps, stores }
}

const openUpload = '0123456789abcdef0123456789abcdef'

const beginUpload = async ({ uploadRecords, uploadParts }: Pick<Stores, 'uploadRecords' | 'uploadParts'>) => {
  const target = { path: 'up.txt', asDraft: false, key: `live/${site}/up.txt`, contentType: 'text/plain' }
  const now = Date.now()
  const sizes = { limit: 10, length: 5, offset: 0, isComplete: false }
  const moments = { created: now, expires: now + 3_600_000 }
  const holding = await uploadParts.begin(target)
  const upload = { id: openUpload, site, user: 'ann', target, metadata: '', ...sizes, ...moments, holding }
  await uploadRecords.create(upload, 10, now)
}

const inTus = { 'Tus-Resumable': '1.0.0' }
const uploads = `/api/v2/admin/sites/${site}/uploads/${openUpload}`

const storage: Exercise = {
  group: 'storage',
  fill: async () => undefined,
  async open(dynamodb, surroundings) {
    const { handler, stores } = openStorageOver(dynamodb, surroundings)
    await beginUpload(stores)
    return handler
  },
  requests: [
    { method: 'PUT', target: `${v2}/folder?type=folder` },
    { method: 'PUT', target: v2, refused: true },
    { method: 'POST', target: v2, body: filesOf('a.txt') },
    { method: 'POST', target: `${v2}/folder`, body: filesOf('page.html', 'b.txt') },
    { method: 'PUT', target: `${v2}/folder/page.html?version=draft`, body: 'draft' },
    { method: 'GET', target: `${v2}/folder/page.html?version=draft` },
    { method: 'PUT', target: `${v2}/folder/page.html?meta`, body: { name: 'other.html' } },
    { method: 'GET', target: `${v2}?status` },
    { method: 'GET', target: `${v2}/folder?meta` },
    { method: 'GET', target: `${v2}/folder?meta&recursive=true` },
    { method: 'GET', target: `${v2}/folder/other.html?meta` },
    { method: 'GET', target: `${v2}/folder?search=other` },
    { method: 'GET', target: `${v2}/folder/other.html?link` },
    { method: 'GET', target: `${v2}/folder?removal` },
    { method: 'DELETE', target: `${v2}/folder/other.html` },
    { method: 'POST', target: `${v2}/folder/other.html?restore`, body: {} },
    { method: 'GET', target: `${v2}/folder/other.html?versions` },
    { method: 'DELETE', target: `${v2}/folder` },
    { method: 'POST', target: `${v2}/folder?restore`, body: {} },
    { method: 'DELETE', target: `${v2}/folder` },
    { method: 'GET', target: `${v2}/folder?deleted` },
    { method: 'GET', target: `${v2}?deleted=all` },
    { method: 'DELETE', target: `${v2}/folder/b.txt?versions` },
    { method: 'DELETE', target: v2, refused: true },
    ...largeFolder,
    { method: 'DELETE', target: `${v2}/large` },
    { method: 'GET', target: `${v2}/a.txt` },
    {
      method: 'POST',
      target: v2,
      headers: { ...inTus, 'Upload-Length': '5', 'Upload-Metadata': 'filename YnkudHh0', 'Content-Type': '' },
    },
    { method: 'HEAD', target: uploads, headers: inTus },
    { method: 'GET', target: uploads },
    {
      method: 'PATCH',
      target: uploads,
      body: 'bytes',
      headers: { ...inTus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' },
    },
    { method: 'DELETE', target: uploads, headers: inTus },
    { method: 'GET', target: `/api/v2/admin/sites/${site}/changes` },
  ],
}

const users = `/api/v2/admin/sites/${site}/users`
const keys = `/api/v2/admin/sites/${site}/keys`
const keyId = 'b'.repeat(64)
const invited = '1'.repeat(64)
const invitation = { invitation: `joe.${invited}`, password: 'correct horse battery' }
const signIn = { username: 'Bob', password: 'correct horse battery' }

const nonce = 'nonce'
const begun = `sign-in=state.${nonce}.v.c`

const access: Exercise = {
  group: 'access',
  async fill(dynamodb) {
    const { people, grants } = storesOver(dynamodb)
    const open = { hash: hashToken(invited), expires: 4_000_000_000 }
    await people.create(testPerson({ name: 'joe', invitation: open }), [])
    const password = await hashPassword(signIn.password)
    const { issuers } = storesOver(dynamodb)
    await people.create(testPerson({ name: 'bob', password }), [])
    const provider = await startProvider(nonce)
    const work = { id: 'work', url: provider.url, audience: 'programs', clientId: 'site-admin' }
    const rule = { id: '1', issuer: 'work', claims: { groups: 'web' }, site, grants: { role: 'editor' } } as const
    await issuers.changeTrust((trust) => addRule(addIssuer(trust, work), rule), [])
    const owned = { user: 'ann', sites: [site], permissions: ['files:read'], expires: 4_000_000_000 }
    await grants.put({ hash: keyId, kind: 'key', since: 1, name: 'Backup', ...owned }, [])
  },
  open: onTables((stores, surroundings) =>
    openHandler.access(settings, stores, { ...surroundings, insecureSignIn: true }),
  ),
  requests: [
    { method: 'POST', target: '/api/v2/admin/tokens', body: signIn },
    { method: 'POST', target: '/api/v1/admin/tokens', body: signIn },
    { method: 'POST', target: '/api/v2/admin/tokens', body: { code: 'unknown', verifier: 'unknown' }, refused: true },
    { method: 'GET', target: '/api/v2/admin/sign-in' },
    { method: 'GET', target: `/api/v2/admin/sign-in/work?challenge=${'c'.repeat(43)}` },
    { method: 'GET', target: '/api/v2/admin/sign-in/work/callback?code=code&state=state', headers: { cookie: begun } },
    { method: 'POST', target: '/api/v2/admin/invitations', body: invitation },
    { method: 'GET', target: '/api/v2/admin/me' },
    { method: 'PUT', target: '/api/v2/admin/me', body: { password: 'x', oldPassword: 'y' }, refused: true },
    { method: 'POST', target: `/api/v2/admin/sites/${site}/tokens` },
    { method: 'GET', target: users },
    { method: 'POST', target: users, body: { name: 'eve', role: 'editor' } },
    { method: 'GET', target: `${users}/eve` },
    { method: 'PUT', target: `${users}/eve`, body: { role: 'owner' } },
    { method: 'PUT', target: `${users}/eve`, body: { disabled: true } },
    { method: 'DELETE', target: `${users}/eve` },
    { method: 'POST', target: keys, body: { name: 'Deployment', rights: ['files:read'] } },
    { method: 'GET', target: keys },
    { method: 'DELETE', target: `${keys}/${keyId}` },
    { method: 'DELETE', target: `/api/v2/admin/sites/${site}/tokens`, as: signIn },
    { method: 'DELETE', target: '/api/v1/admin/tokens', as: signIn },
    { method: 'DELETE', target: '/api/v2/admin/tokens', as: signIn },
  ],
}

const hooks = `${v3}/webhooks`
// Nothing listens at this address.
const targetUrl = 'http://127.0.0.1:1/'
export const unsealed: SecretSeals = { seal: async (_, secret) => secret, open: async (_, sealed) => sealed }

const storedWebhook = testWebhook({ id: 'whk_0000000000000001', targetUrl, enabled: false })

/** A webhook with a failed delivery of the entry about its own creation. */
export const fillWebhooks = async ({ webhooks, history }: Pick<Stores, 'webhooks' | 'history'>): Promise<void> => {
  await webhooks.create(storedWebhook, { ...entry, site, type: 'webhook.created' })
  const { position = 0 } = (await history.before(site, undefined, 1))[0] ?? {}
  const delivery = { id: 'dlv_1', position, type: 'webhook.created', at: 1, attempt: 1, milliseconds: 1 } as const
  await webhooks.recordOutcome(site, 'whk_0000000000000001', { delivery, retry: { position, attempt: 2, due: 1 } })
}

const webhooks: Exercise = {
  group: 'webhooks',
  fill: (dynamodb) => fillWebhooks(storesOver(dynamodb)),
  open: onTables((stores, surroundings) => {
    const target = createTarget({ permitsPrivate: true })
    return openHandler.webhooks(settings, { ...stores, seals: unsealed }, { ...surroundings, target })
  }),
  requests: [
    { method: 'POST', target: hooks, body: { targetUrl } },
    { method: 'GET', target: `${hooks}/whk_0000000000000001` },
    { method: 'PUT', target: `${hooks}/whk_0000000000000001`, body: { description: 'News', rotate: true } },
    { method: 'POST', target: `${hooks}/whk_0000000000000001/test` },
    { method: 'GET', target: `${hooks}/whk_0000000000000001/deliveries` },
    { method: 'POST', target: `${hooks}/whk_0000000000000001/deliveries/dlv_1/repeat` },
    { method: 'PUT', target: `${hooks}/whk_0000000000000001`, body: { enabled: true } },
    { method: 'DELETE', target: `${hooks}/whk_0000000000000001` },
    { method: 'GET', target: hooks },
  ],
  async work(dynamodb) {
    const leases = createWebhookLeases({ dynamodb, table: 'webhooks' })
    await leases.take(site, 'whk_0000000000000001', 'worker', 1_000)
    await leases.giveBack(site, 'whk_0000000000000001', { holder: 'worker' })
  },
}

export const exercises: readonly Exercise[] = [access, documentation, fields, categories, storage, webhooks]

/** Sends a request of an exercise. Throws an Error if the status is not the expected status. */
export const perform = async (handler: Handler, token: string, request: Request, requestId = 'test'): Promise<void> => {
  const { method, target, headers, body, refused = false, as } = request
  const own = as ? await send(handler, 'POST', '/api/v2/admin/tokens', { body: as }) : undefined
  const [path = '', search] = target.split('?')
  const query = Object.fromEntries(new URLSearchParams(search))
  const answer = await send(handler, method, path, {
    headers: { Authorization: own?.json.token ?? token, ...(Buffer.isBuffer(body) && formHeaders), ...headers },
    query,
    requestId,
    ...(body && { body }),
  })
  if (answer.status >= 400 !== refused) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`)
}
