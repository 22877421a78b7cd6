import { describe, expect } from 'vitest'
import { type ConnectOptions, connect } from '../../client/src/index.ts'
import { nodeFetch } from '../../client/src/node.ts'
import { pull, push } from '../../client/src/sync/index.ts'
import { type Decide, type Fate, startProxy } from './support/proxy.ts'
import { test as base, readSite, readTree, reported } from './support/site.ts'

const test = base.extend('through', async ({ service }, { onCleanup }) => {
  const proxies: { stop(): Promise<void> }[] = []
  onCleanup(async () => {
    for (const proxy of proxies) await proxy.stop()
  })
  /** A client behind a proxy that treats each request as decided. */
  return async (decide: Decide, fetch: NonNullable<ConnectOptions['fetch']>) => {
    const proxy = await startProxy(service.baseUrl, decide)
    proxies.push(proxy)
    return connect({ url: proxy.url, token: service.token, patience: { delay: 1, attempts: 12 }, fetch })
  }
})

/** Every third request gets another fate, so that each one varies. */
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
  ['the one for Node', nodeFetch],
] as const)('%s', ([, fetch]) => {
  test('a push through refusals and broken connections ends with equal sides', async ({
    through,
    client,
    folder,
    makeDirectory,
  }) => {
    const here = await makeDirectory({ ...files, 'large.bin': 'x'.repeat(5_000_000) })
    const shaky = await through(inTurn([429, 503, 'cut before', 'cut after']), fetch)
    const { end } = await reported(push, { client: shaky, directory: here, folder })
    expect(end).toMatchObject({ create: 31, failed: 0, conflict: 0 })
    expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
  })

  test('a pull through refusals and broken connections ends with equal sides', async ({
    through,
    client,
    folder,
    makeDirectory,
  }) => {
    const here = await makeDirectory({ ...files, 'large.bin': 'x'.repeat(2_000_000) })
    await push({ client, directory: here, folder })
    const there = await makeDirectory()
    const shaky = await through(inTurn([429, 503, 'cut before', 'cut within']), fetch)
    const { end } = await reported(pull, { client: shaky, directory: there, folder })
    expect(end).toMatchObject({ create: 31, failed: 0, conflict: 0 })
    expect(await readTree(there)).toStrictEqual(await readTree(here))
  })

  test('a removal with a lost answer succeeds, and an upload continues although every second append is cut', async ({
    through,
    client,
    folder,
    makeDirectory,
  }) => {
    const here = await makeDirectory({ 'a.txt': 'a', 'large.bin': 'y'.repeat(9_000_000) })
    await client.files.put(`${folder}/extra.txt`, 'extra')
    let appends = 0
    let removals = 0
    const shaky = await through((method) => {
      if (method === 'DELETE') return removals++ === 0 ? 'cut after' : 'pass'
      return method === 'PATCH' && appends++ % 2 === 0 ? 'cut after' : 'pass'
    }, fetch)
    const { end } = await reported(push, { client: shaky, directory: here, folder, removes: true })
    expect(end).toMatchObject({ create: 2, remove: 1, failed: 0, conflict: 0 })
    expect(removals).toBe(2)
    expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
  })

  test('large uploads and downloads continue after an outage that is longer than the repetitions', async ({
    service,
    client,
    folder,
    makeDirectory,
  }) => {
    const here = await makeDirectory({ 'large.bin': 'z'.repeat(9_000_000) })
    let away = 0
    let broken: 'no' | 'yes' | 'was' = 'no'
    const proxy = await startProxy(service.baseUrl, (method, path) => {
      const isOfBytes = method === 'PATCH' || (method === 'GET' && path.endsWith('large.bin'))
      if (broken === 'no' && isOfBytes) {
        broken = 'yes'
        away = 9
        return method === 'PATCH' ? 'cut before' : 'cut within'
      }
      return broken === 'yes' && away-- > 0 ? 'cut before' : 'pass'
    })
    try {
      const shaky = await connect({
        url: proxy.url,
        token: service.token,
        patience: { delay: 1, attempts: 4 },
        fetch,
      })
      expect((await reported(push, { client: shaky, directory: here, folder })).end).toMatchObject({ create: 1 })
      expect(away).toBe(-1)
      broken = 'no'
      const there = await makeDirectory()
      expect((await reported(pull, { client: shaky, directory: there, folder })).end).toMatchObject({ create: 1 })
      expect(await readTree(there)).toStrictEqual(await readTree(here))
    } finally {
      await proxy.stop()
    }
    expect(await readSite(client, folder)).toStrictEqual(await readTree(here))
  })

  test('behind a limit of 4.5 MB per request, large files go in pieces of that size, and the limit is tested only once', async ({
    through,
    client,
    folder,
    makeDirectory,
  }) => {
    const here = await makeDirectory({ 'one.bin': '1'.repeat(17_000_000) })
    const refused: number[] = []
    const narrow = await through((_method, _path, _index, length) => {
      if (length <= 4_500_000) return 'pass'
      refused.push(length)
      return 413
    }, fetch)
    expect((await reported(push, { client: narrow, directory: here, folder })).end).toMatchObject({
      create: 1,
      failed: 0,
    })
    await narrow.files.put(`${folder}/two.bin`, '2'.repeat(17_000_000))
    // A streamed file goes in one piece until that is refused.
    expect(refused).toStrictEqual([17_000_000])
    expect((await client.files.stat(`${folder}/one.bin`)).size).toBe(17_000_000)
  })
})
