import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccessHandler } from '../../functions/access/group.ts'
import { createDocumentationHandler } from '../../functions/documentation/group.ts'
import { createWebhooksHandler } from '../../functions/webhooks/group.ts'
import { permissions } from '../../lib/access/grants.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import { errors } from '../../lib/core/errors.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { Area } from '../../lib/core/rights.ts'
import { groupPolicies } from '../../lib/http/group-policy.ts'
import type { Handler } from '../../lib/http/request.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import { isOfSite, type Route } from '../../lib/http/router.ts'
import { createAccessDeps, createWebhooksDeps } from '../../lib/service/deps.ts'
import { createTarget } from '../../lib/webhooks/target.ts'
import { statusAndCode } from '../support/answer.ts'
import { beginning, type FieldsService, openFieldsService, ownSite, plainSite } from '../support/fields-service.ts'
import { openTestFiles, type TestFiles } from '../support/files.ts'
import { send } from '../support/gateway.ts'

/**
 * Every operation of the route table with every kind of unauthorised caller. A new operation is covered by its row in
 * the table. A new group needs its handler here.
 */
let service: FieldsService
let files: TestFiles
let handlers: Readonly<Record<(typeof routes)[number]['group'], Handler>>

beforeAll(async () => {
  service = await openFieldsService()
  const { handler, categoriesHandler, stores, deps } = service.start()
  files = await openTestFiles({
    // The same tokens and sites as the other functions.
    between: () => ({ sites: stores.sites, grants: stores.grants, people: stores.people }),
    telemetry: deps.edge.telemetry,
    clock: { wall: () => beginning, monotonic: () => 0 },
  })
  // No request reaches a secret.
  const seals = { seal: async () => '', open: async () => '' }
  const target = createTarget({ permitsPrivate: false })
  handlers = {
    access: createAccessHandler(createAccessDeps({ dataCentre: 'us' }, stores, deps.edge)),
    fields: handler,
    categories: categoriesHandler,
    storage: files.handler,
    webhooks: createWebhooksHandler(
      createWebhooksDeps({ dataCentre: 'us' }, { ...stores, seals }, { ...deps.edge, target }),
    ),
    documentation: createDocumentationHandler({
      edge: deps.edge,
      findDataCentres: async () => [await findHere(deps.edge)],
      downloadsUrl: undefined,
      keptDays: 30,
      findBaseUrl: async () => undefined,
      consoleFolder: join(import.meta.dirname, '..', '..', 'console', 'dist'),
    }),
  }
})
afterAll(async () => {
  await files.close()
  await service.close()
})

const all: readonly Route[] = routes
const guarded = all.filter((route) => !route.public)

interface Asked extends Route {
  /** Query parameters that select another operation of the route. */
  readonly query?: Readonly<Record<string, string>>
}

const switches: Readonly<Record<string, readonly string[]>> = {
  readPath: ['meta', 'link', 'versions', 'versionId', 'deleted', 'search', 'removal'],
  readRoot: ['meta', 'status', 'deleted', 'search', 'removal'],
  uploadToFolder: ['restore'],
  putPath: ['meta'],
}

/** The operations of a route: without a switch, and with each switch. */
const operationsOf = (route: Route): readonly Asked[] => [
  route,
  ...(switches[route.operation] ?? []).map((name) => ({
    ...route,
    operation: `${route.operation} ?${name}`,
    query: { [name]: '' },
  })),
]

/** The area that the path of an operation belongs to. */
const areaIn = ({ path }: Route): Area => {
  if (path.endsWith('/changes')) return 'history'
  if (/\/(?:users|keys|webhooks)\b/.test(path)) return 'access'
  if (/\/(?:storage|uploads)\b/.test(path)) return 'files'
  return path.includes('/v1/') ? 'forms' : 'categories'
}

const rejected = (): (typeof errors)['tokenRejected'] => errors.tokenRejected
const unknown = ({ group }: Route) => errors[groupPolicies[group].siteUnknown]
const ambiguous = ({ group }: Route) => errors[groupPolicies[group].siteAmbiguous]

interface Caller {
  /** The value of the header. Undefined sends no header. */
  readonly authorization: () => Promise<string | undefined>
  readonly site: string
  readonly refusal: (route: Route) => { readonly code: number; readonly status: number }
}

const token = (grant: Parameters<FieldsService['issueToken']>[0] = {}) => service.issueToken({ permissions, ...grant })
const own = String(ownSite)

const revoked = async () => {
  const issued = await token()
  await service.revokeToken(issued)
  return issued
}

const refused: Readonly<Record<string, Caller>> = {
  'no token': { authorization: async () => undefined, site: own, refusal: rejected },
  'a wrong token': { authorization: async () => 'f'.repeat(64), site: own, refusal: rejected },
  'an expired token': { authorization: () => token({ expires: beginning / 1000 }), site: own, refusal: rejected },
  'a revoked token': { authorization: revoked, site: own, refusal: rejected },
  'the token of another site': { authorization: () => token({ sites: [plainSite] }), site: own, refusal: unknown },
  'the token of no site': { authorization: () => token({ sites: [] }), site: own, refusal: unknown },
  'a site that does not exist': { authorization: token, site: '9999', refusal: unknown },
  'a site that no longer exists': {
    authorization: () => token({ sites: [9999 as SiteId] }),
    site: '9999',
    refusal: unknown,
  },
  'several sites, and current': {
    authorization: () => token({ sites: [ownSite, plainSite] }),
    site: 'current',
    refusal: ambiguous,
  },
}

const admitted: Readonly<Record<string, Pick<Caller, 'authorization' | 'site'>>> = {
  'a good token': { authorization: token, site: own },
  'several sites, and one of them': { authorization: () => token({ sites: [plainSite, ownSite] }), site: own },
}

/**
 * The path of a route on a site. Other variables may name nothing, because callers without permission are refused
 * earlier.
 */
const pathOf = ({ path }: Route, site: string) => path.replace('{site}', site).replaceAll(/\{\w+\+?\}/g, '424242')

test('reading needs a right on the area, and changing needs a right to write (A-34)', () => {
  // HEAD of an upload may complete the upload. GET of an upload answers addresses at which its bytes can be stored.
  const isChange = ({ method, path }: Route) =>
    /\/(?:\{upload\}|keys)$|\/webhooks\b/.test(path) || (method !== 'GET' && !path.endsWith('/changes'))
  const needed = guarded.filter(isOfSite).map(({ operation, right }) => [operation, right])
  expect(needed).toEqual(
    guarded
      .filter(isOfSite)
      .map((route) => [route.operation, `${areaIn(route)}:${isChange(route) ? 'write' : 'read'}`]),
  )
  expect(all.filter((route) => !isOfSite(route)).filter(({ right }) => right)).toEqual([])
})

const call = async (route: Asked, { authorization, site }: Pick<Caller, 'authorization' | 'site'>) => {
  const value = await authorization()
  const headers = value === undefined ? {} : { Authorization: value }
  const handler = handlers[route.group as keyof typeof handlers]
  return send(handler, route.method, pathOf(route, site), { headers, query: route.query ?? {} })
}

describe.each(guarded.filter(isOfSite).flatMap(operationsOf))('$operation', (route) => {
  test.each(Object.entries(refused))('the operation refuses %s', async (_, caller) => {
    const { code, status } = caller.refusal(route)
    const answer = await call(route, caller)
    expect(statusAndCode(answer)).toEqual([status, code])
  })

  test.each(Object.entries(admitted))('a token with %s is admitted', async (_, caller) => {
    const answer = await call(route, caller)
    const [, code] = statusAndCode(answer)
    expect([rejected().code, unknown(route).code, ambiguous(route).code]).not.toContain(code)
    expect(answer.status).toBeLessThan(500)
  })
})

describe.each(guarded.filter((route) => !isOfSite(route)))('$operation', (route) => {
  const everybody = Object.entries<Pick<Caller, 'authorization' | 'site'>>({ ...refused, ...admitted })
  const isRejected = (name: string) => refused[name]?.refusal === rejected

  test.each(everybody.filter(([name]) => isRejected(name)))('the operation refuses %s', async (_, caller) => {
    const answer = await call(route, caller)
    expect(statusAndCode(answer)).toEqual([401, rejected().code])
  })

  test.each(everybody.filter(([name]) => !isRejected(name)))('the operation admits %s', async (_, caller) => {
    const answer = await call(route, caller)
    expect(statusAndCode(answer)[1]).not.toBe(rejected().code)
    expect(answer.status).toBeLessThan(500)
  })
})

describe.each(all.filter((route) => route.public))('$operation', (route) => {
  test('the operation needs no token', async () => {
    // A path whose variable names nothing answers 404 to every caller, and a request without its body answers 400.
    const { status } = await call(route, { authorization: async () => undefined, site: own })
    expect([200, 400, 404]).toContain(status)
  })
})
