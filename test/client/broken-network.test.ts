import { describe, expect } from 'vitest'
import { type ConnectOptions, connect } from '../../client/src/index.ts'
import { nodeFetch } from '../../client/src/node.ts'
import type { Decide, Fate } from './support/proxy.ts'
import { test as base, readTree } from './support/site.ts'

const test = base.extend('through', async ({ service, proxied }) => {
  /** A client behind a proxy. `decide` chooses what the proxy does with each request. */
  return async (decide: Decide, fetch: NonNullable<ConnectOptions['fetch']>, attempts = 12) =>
    connect({ url: await proxied(decide), token: service.token, patience: { delay: 1, attempts }, fetch })
})

/** Breaks every third request, in the next way of the list, so that every kind of request is broken in several ways. */
const inTurn = (fates: readonly Fate[]): Decide => {
  let met = 0
  return (_method, path, index) =>
    path.endsWith('/sites') || index % 3 > 0 ? 'pass' : (fates[met++ % fates.length] ?? 'pass')
}

const files = Object.fromEntries(
  Array.from({ length: 30 }, (_, index) => [`${index % 7}/file ${index}.txt`, `text ${index} `.repeat(index * 40)]),
)

describe.for([
  ['the fetch of the platform', globalThis.fetch],
  ['the fetch for Node', nodeFetch],
] as const)('Broken connections with %s', ([, fetch]) => {
  test('after a push through broken connections, both sides are equal', async ({ through, makeDirectory, site }) => {
    const here = await makeDirectory({ ...files, 'large.bin': 'x'.repeat(5_000_000) })
    const shaky = await through(inTurn([429, 503, 'cut before', 'cut after']), fetch)
    const end = await site.push(here, { client: shaky })
    expect(end).toMatchObject({ create: 31, failed: 0, conflict: 0 })
    expect(await site.texts()).toStrictEqual(await readTree(here))
  })

  test('after a pull through broken connections, both sides are equal', async ({ through, makeDirectory, site }) => {
    const here = await makeDirectory({ ...files, 'large.bin': 'x'.repeat(2_000_000) })
    await site.push(here)
    const there = await makeDirectory()
    const shaky = await through(inTurn([429, 503, 'cut before', 'cut within']), fetch)
    const end = await site.pull(there, { client: shaky })
    expect(end).toMatchObject({ create: 31, failed: 0, conflict: 0 })
    expect(await readTree(there)).toStrictEqual(await readTree(here))
  })

  test('a large file is sent in pieces that the proxy accepts', async ({ through, folder, makeDirectory, site }) => {
    const here = await makeDirectory({ 'one.bin': '1'.repeat(5_000_000) })
    const refused: number[] = []
    const narrow = await through((_method, _path, _index, length) => {
      if (length <= 4_500_000) return 'pass'
      refused.push(length)
      return 413
    }, fetch)
    expect(await site.push(here, { client: narrow })).toMatchObject({ create: 1, failed: 0 })
    await narrow.files.put(`${folder}/two.bin`, '2'.repeat(5_000_000))
    // A streamed file is sent in one piece until the proxy refuses a piece.
    expect(refused).toStrictEqual([5_000_000])
    expect((await site.stat('one.bin')).size).toBe(5_000_000)
  })
})

test('the transfer of a large file continues after a long outage', async ({ makeDirectory, site, through }) => {
  const here = await makeDirectory({ 'large.bin': 'z'.repeat(5_000_000) })
  let away = 0
  let broken: 'no' | 'yes' | 'was' = 'no'
  const decide: Decide = (method, path) => {
    const isOfBytes = method === 'PATCH' || (method === 'GET' && path.endsWith('large.bin'))
    if (broken === 'no' && isOfBytes) {
      broken = 'yes'
      away = 9
      return method === 'PATCH' ? 'cut before' : 'cut within'
    }
    return broken === 'yes' && away-- > 0 ? 'cut before' : 'pass'
  }
  const shaky = await through(decide, nodeFetch, 4)
  expect(await site.push(here, { client: shaky })).toMatchObject({ create: 1 })
  expect(away).toBe(-1)
  broken = 'no'
  const there = await makeDirectory()
  expect(await site.pull(there, { client: shaky })).toMatchObject({ create: 1 })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})
