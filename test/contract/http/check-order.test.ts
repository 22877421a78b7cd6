import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { createHandler } from '../../../lib/http/handler.ts'
import { operation } from '../../../lib/http/operation.ts'
import { done } from '../../../lib/http/reply.ts'
import type { Handler } from '../../../lib/http/request.ts'
import type { Group, Route } from '../../../lib/http/router.ts'
import { distantSite, type FieldsService, openFieldsService, ownSite, plainSite } from '../../support/fields-service.ts'
import { type Request, send } from '../../support/gateway.ts'

/** of two checks that fail, the earlier one answers. */
let service: FieldsService
let handlers: Readonly<Record<Group, Handler>>
let token: string

/** A route of each group that takes a body. */
const path = (site: number | string) => `/sites/${site}/things`
const route = (group: Group): Route & { readonly operation: 'change' } => ({
  operation: 'change',
  method: 'POST',
  path: path('{site}'),
  group,
  ...(group === 'storage' && { permission: 'files' }),
})
const change = operation(
  { params: () => ({}), body: { schema: async () => z.object({ name: z.string() }), malformed: 'fieldsMalformed' } },
  async () => done,
)

beforeAll(async () => {
  service = await openFieldsService()
  const { edge } = service.start().deps
  const handlerOf = (group: Group) => createHandler(group, [route(group)], { change }, edge)
  handlers = {
    fields: handlerOf('fields'),
    categories: handlerOf('categories'),
    storage: handlerOf('storage'),
    documentation: handlerOf('documentation'),
  }
  token = await service.issueToken({ sites: [ownSite, plainSite, distantSite] })
})
afterAll(() => service.close())

const tooLarge = `"${'x'.repeat(70_000)}"`

interface Pair {
  readonly earlier: string
  readonly later: string
  readonly group?: Group
  readonly method?: string
  readonly path: string
  readonly anonymous?: true
  readonly request?: Request
  readonly status: number
  readonly code?: number
}

const text = { 'Content-Type': 'text/plain' }
const unacceptable = { Accept: 'text/html' }

const pairs: readonly Pair[] = [
  { earlier: 'route', later: 'method', method: 'PATCH', path: '/nothing', status: 404, code: 100004 },
  {
    earlier: 'method',
    later: 'token',
    method: 'PATCH',
    path: path(ownSite),
    anonymous: true,
    status: 405,
    code: 100005,
  },
  { earlier: 'token', later: 'site', path: path(9999), anonymous: true, status: 401, code: 101000 },
  { earlier: 'site', later: 'data centre', path: path('current'), status: 400, code: 100002 },
  {
    earlier: 'data centre',
    later: 'media types',
    path: path(distantSite),
    request: { headers: unacceptable },
    status: 308,
  },
  { earlier: 'data centre', later: 'permission', group: 'storage', path: path(distantSite), status: 301 },
  {
    earlier: 'permission',
    later: 'media types',
    group: 'storage',
    path: path(ownSite),
    request: { headers: text, body: 'x' },
    status: 400,
    code: 104003,
  },
  {
    earlier: 'rendering engine',
    later: 'media types',
    group: 'categories',
    path: path(plainSite),
    request: { headers: text, body: 'x' },
    status: 403,
    code: 109002,
  },
  {
    earlier: 'Accept',
    later: 'Content-Type',
    path: path(ownSite),
    request: { headers: { ...unacceptable, ...text }, body: 'x' },
    status: 406,
    code: 100006,
  },
  {
    earlier: 'Content-Type',
    later: 'size',
    path: path(ownSite),
    request: { headers: text, body: tooLarge },
    status: 415,
    code: 100015,
  },
  { earlier: 'size', later: 'body', path: path(ownSite), request: { body: tooLarge }, status: 413, code: 100013 },
  { earlier: 'body', later: 'nothing', path: path(ownSite), request: { body: '{' }, status: 400, code: 115000 },
]

describe('of two checks that fail', () => {
  test.each(pairs)('$earlier comes before $later', async (pair) => {
    const { group = 'fields', method = 'POST', anonymous, request = {}, status, code } = pair
    const headers = { ...(!anonymous && { Authorization: token }), ...request.headers }
    const answer = await send(handlers[group], method, pair.path, { ...request, headers })
    expect(answer.status).toBe(status)
    if (code !== undefined) expect(answer.json.code).toBe(code)
  })

  test('none is left for a request that is good', async () => {
    const answer = await send(handlers.fields, 'POST', path(ownSite), {
      headers: { Authorization: token },
      body: { name: 'x' },
    })
    expect(answer.status).toBe(200)
  })
})
