import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDeadline } from '../../../lib/core/deadline.ts'
import { createHandler } from '../../../lib/http/handler.ts'
import { operation } from '../../../lib/http/operation.ts'
import { ok } from '../../../lib/http/reply.ts'
import type { Handler } from '../../../lib/http/request.ts'
import type { Group } from '../../../lib/http/router.ts'
import { statusAndCode } from '../../support/answer.ts'
import {
  baseUrls,
  distantSite,
  type FieldsService,
  openFieldsService,
  ownSite,
  plainSite,
} from '../../support/fields-service.ts'
import { requestOf, send } from '../../support/gateway.ts'

/** What the areas do differently at the edge, on routes of their own. */
let service: FieldsService
let handlers: Readonly<Record<Group, Handler>>

const path = (site: number | string) => `/sites/${site}/things`
const answerSite = operation({ params: () => ({}) }, async ({ site, caller }) =>
  ok({ value: { site: site.id, user: caller.user }, xml: { root: 'site' } }),
)

beforeAll(async () => {
  service = await openFieldsService()
  const { edge } = service.start().deps
  const handlerOf = (group: Group) => {
    const routes = (['GET', 'POST', 'PUT', 'DELETE'] as const).map((method) => ({
      operation: method,
      method,
      path: path('{site}'),
      group,
    }))
    const operations = { GET: answerSite, POST: answerSite, PUT: answerSite, DELETE: answerSite }
    return createHandler(group, routes, operations, edge)
  }
  handlers = {
    fields: handlerOf('fields'),
    categories: handlerOf('categories'),
    storage: handlerOf('storage'),
    documentation: handlerOf('documentation'),
  }
})
afterAll(() => service.close())

const sites = [ownSite, plainSite, distantSite]
const as = (token: string) => ({ headers: { Authorization: token } })
const files = ['files'] as const

describe('the new rendering engine', () => {
  test('is needed by categories alone', async () => {
    const token = as(await service.issueToken({ sites, permissions: files }))
    const refused = await send(handlers.categories, 'GET', path(plainSite), token)
    expect(refused.status).toBe(403)
    expect(refused.json).toMatchObject({ code: 109002 })
    expect((await send(handlers.fields, 'GET', path(plainSite), token)).status).toBe(200)
    expect((await send(handlers.storage, 'GET', path(plainSite), token)).status).toBe(200)
  })
})

describe('the token in the query', () => {
  test.each(['access_token', 'status'])('is taken from %s in storage', async (name) => {
    const token = await service.issueToken({ permissions: files })
    expect((await send(handlers.storage, 'POST', path(ownSite), { query: { [name]: token } })).status).toBe(200)
  })

  test.each(['fields', 'categories'] as const)('is not looked at in %s', async (group) => {
    const token = await service.issueToken({ permissions: files })
    expect((await send(handlers[group], 'GET', path(ownSite), { query: { access_token: token } })).status).toBe(401)
  })

  test('gives way to the header', async () => {
    const [ann, bob] = [
      await service.issueToken({ permissions: files }),
      await service.issueToken({ permissions: files, user: 'bob' }),
    ]
    const both = await send(handlers.storage, 'GET', path(ownSite), { ...as(bob), query: { access_token: ann } })
    expect(both.json).toMatchObject({ user: 'bob' })
    const wrong = await send(handlers.storage, 'GET', path(ownSite), { ...as('wrong'), query: { access_token: ann } })
    expect(wrong.status).toBe(401)
  })

  test('may be beside a status without a value', async () => {
    const token = await service.issueToken({ permissions: files })
    const query = { status: '', access_token: token }
    expect((await send(handlers.storage, 'GET', path(ownSite), { query })).status).toBe(200)
    expect((await send(handlers.storage, 'GET', path(ownSite), { query: { status: '' } })).status).toBe(401)
  })
})

describe('the codes of a site that the token does not name', () => {
  test.each([
    ['fields', 100002, 100002],
    ['categories', 100002, 100002],
    ['storage', 104023, 104004],
  ] as const)('in %s are %i for an unknown one and %i for several', async (group, unknown, ambiguous) => {
    const token = as(await service.issueToken({ sites, permissions: files }))
    for (const [site, code] of [
      [9999, unknown],
      ['current', ambiguous],
    ] as const) {
      const answer = await send(handlers[group], 'GET', path(site), token)
      expect(statusAndCode(answer)).toEqual([400, code])
    }
  })
})

describe('a site in another data centre', () => {
  test.each([
    ['fields', { GET: 301, HEAD: 301, POST: 308, PUT: 308, DELETE: 308 }],
    ['categories', { GET: 301, HEAD: 301, POST: 308, PUT: 308, DELETE: 308 }],
    ['storage', { GET: 301, HEAD: 301, POST: 301, PUT: 301, DELETE: 301 }],
  ] as const)('moves requests of %s for good', async (group, statuses) => {
    const token = as(await service.issueToken({ sites, permissions: files }))
    for (const [method, status] of Object.entries(statuses)) {
      const answer = await send(handlers[group], method, path(distantSite), token)
      expect({ method, status: answer.status }).toEqual({ method, status })
      expect(answer.headers).toMatchObject({
        location: `${baseUrls.eu}${path(distantSite)}`,
        'cache-control': 'no-store',
        'access-control-expose-headers': expect.stringContaining('Location'),
      })
      expect(answer.text).toBe('')
    }
  })

  test('is named with the path and the query as they came', async () => {
    const token = as(await service.issueToken({ sites }))
    const query = { where: `{"a": "b&c=d e+f"}`, items: ['1', '2'], flag: '' }
    const { headers } = await send(handlers.fields, 'GET', `/sites/%32001/things`, { ...token, query })
    const location = new URL(headers['location'] ?? '')
    expect(location.href.startsWith(`${baseUrls.eu}/sites/%32001/things?`)).toBe(true)
    expect(location.searchParams.get('where')).toBe(query.where)
    expect(location.searchParams.getAll('items')).toEqual(['1', '2'])
    expect(location.searchParams.get('flag')).toBe('')
  })

  test('is named for current as well', async () => {
    const token = as(await service.issueToken({ sites: [distantSite] }))
    const { status, headers } = await send(handlers.fields, 'GET', path('current'), token)
    expect([status, headers['location']]).toEqual([301, `${baseUrls.eu}${path('current')}`])
  })

  test('is named before anything of the body is read', async () => {
    const stream = Readable.from([Buffer.from('{}')])
    const request = requestOf('POST', path(distantSite), as(await service.issueToken({ sites })))
    const { status } = await handlers.storage(
      { ...request, body: { stream } },
      createDeadline(() => 1_000),
    )
    expect(status).toBe(301)
    expect(stream.readableDidRead).toBe(false)
  })
})
