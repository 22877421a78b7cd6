import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { lambdaHandler } from '../../../lib/aws/lambda/gateway.ts'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import { type CategoryId, storedId, type WebFormId } from '../../../lib/core/ids.ts'
import { reserves } from '../../../lib/core/time.ts'
import type { SystemField } from '../../../lib/fields/web-forms.ts'
import { openFieldsService, ownSite } from '../../support/fields-service.ts'
import { entry } from '../../support/history.ts'
import { sendEvent } from '../../support/lambda.ts'

/** The store is slow, so a request answers 503. Another caller changes the same item, and then the store goes on. */

const service = await openFieldsService()
const headers = { Authorization: await service.issueToken() }

/** A slow call waits before it reaches the store, or its answer waits. A late call reaches the store even if it is cut. */
type SlowWay = 'there' | 'late' | 'back'

/** Each write waits until `goOn`. The caller of a write waits until its signal cuts it off. `goOn` ends all waits. */
const slowDown = (dynamodb: DynamoDBDocumentClient, way: SlowWay) => {
  const gate = Promise.withResolvers<void>()
  const held: Promise<unknown>[] = []
  const send = dynamodb.send.bind(dynamodb) as (command: object, options?: object) => Promise<unknown>
  const slowly = async (command: object, cut: Promise<never>) => {
    if (way !== 'back') await Promise.race([gate.promise, ...(way === 'late' ? [] : [cut])])
    const answer = await send(command)
    if (way === 'back') await gate.promise
    return answer
  }
  const slow = (command: object, options: { readonly abortSignal?: AbortSignal } = {}) => {
    if (!/^(Put|Update|Delete|BatchWrite)/.test(command.constructor.name)) return send(command, options)
    const cut = Promise.withResolvers<never>()
    options.abortSignal?.addEventListener('abort', () => cut.reject(new ServiceError('unavailable')))
    const call = slowly(command, cut.promise)
    held.push(call)
    return Promise.race([call, cut.promise])
  }
  Object.assign(dynamodb, { send: slow })
  const goOn = async () => {
    gate.resolve()
    await Promise.allSettled(held)
  }
  return { goOn }
}

/** Slightly more than the time that a change reserves, so its calls are cut soon after they begin. */
const remaining = () => reserves.settle + 300

const before: readonly SystemField[] = [{ typeId: -2, mandatory: false, order: 1 }]

/** The change of another caller after the 503. */
const newer: readonly SystemField[] = [{ typeId: -2, mandatory: true, order: 5 }]

type Change = readonly [name: string, method: string, below: string, body: object | undefined, statusIfDone: number]
const changes: readonly Change[] = [
  ['creating a field', 'POST', '', { type: { id: -3 }, mandatory: true }, 201],
  ['changing a field', 'PUT', '/-2', { mandatory: false, order: 9 }, 200],
  ['removing a field', 'DELETE', '/-2', undefined, 200],
]

const begin = async (way: SlowWay, [, method, below, body]: Change) => {
  const { deps, dynamodb, handler } = service.start()
  const path = await service.createForm(before)
  const { goOn } = slowDown(dynamodb, way)
  const changing = vi.spyOn(deps.webForms, 'changeFields')
  const answer = await sendEvent(lambdaHandler(handler), method, path + below, {
    headers,
    remaining,
    ...(body && { body }),
  })
  return {
    path,
    answer,
    /** Lets the function continue until it has completed its work. */
    async thaw() {
      await goOn()
      await Promise.allSettled(changing.mock.results.map(({ value }) => value))
    },
  }
}

test.each(changes)('%s: a late change answers 503, and does not overwrite a newer change', async (...change) => {
  const { path, answer, thaw } = await begin('late', change)
  expect(answer.status).toBe(503)
  const { deps } = service.start()
  const form = storedId<WebFormId>(/webforms\/(\d+)/.exec(path)?.[1])
  await deps.webForms.changeFields(ownSite, form, () => newer, entry)
  await thaw()
  expect(await service.storedFields(path)).toEqual(newer)
})

test.each(changes)('%s: if the store has made the change, the answer is a success', async (...change) => {
  expect((await begin('back', change)).answer.status).toBe(change[4])
})

describe('links while the store is slow', () => {
  const path = `/webresources/api/v3/sites/${ownSite}/categories/5/news`

  beforeAll(async () => {
    const { contents } = service.categories
    await contents.putMany(ownSite, 'category', [{ id: 5, name: 'Five' }], entry)
    const news = [1, 2].map((id) => ({ id, subject: `${id}` }))
    await contents.putMany(ownSite, 'news', news, entry)
  })

  const list: LinkList = { site: ownSite, kind: 'news', category: storedId<CategoryId>(5) }
  const linked = async () => (await service.categories.links.list(list, 0, 10)).map(({ id }) => id)
  const link = (ids: readonly number[]) =>
    service.categories.links.link(list, new Map(ids.map((id) => [id, true])), entry)
  const unlink = (ids: readonly number[]) => service.categories.links.unlink(list, ids, entry)

  const slowly = async (method: string, body: object, at: string) => {
    const { categoriesHandler, dynamodb } = service.start()
    const { goOn } = slowDown(dynamodb, 'there')
    const answer = await sendEvent(lambdaHandler(categoriesHandler), method, at, { headers, remaining, body })
    return { answer, goOn }
  }

  const ofObject = `/webresources/api/v3/sites/${ownSite}/news/1/categories`

  test.each([
    ['in batches', path, [1, 2].map((objectId) => ({ objectId, displayable: 1 }))],
    ['one by one', path, [1, 2].map((objectId) => ({ objectId }))],
    ['from the object', ofObject, [{ categoryId: 5 }]],
  ])('a request that makes links %s answers 503, and no link appears later', async (_, at, items) => {
    await unlink([1, 2])
    const { answer, goOn } = await slowly('POST', { items }, at)
    expect(answer.status).toBe(503)
    await link([1, 2])
    await unlink([1, 2])
    await goOn()
    expect(await linked()).toEqual([])
  })

  test.each([
    ['the category', path, [{ objectId: 1 }]],
    ['the object', ofObject, [{ categoryId: 5 }]],
  ])('a request that unlinks from %s answers 503, and does not remove a newer link', async (_, at, items) => {
    await link([1, 2])
    const { answer, goOn } = await slowly('DELETE', { items }, at)
    expect(answer.status).toBe(503)
    await link([1])
    await goOn()
    expect(await linked()).toEqual([1, 2])
  })
})
