import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ObjectVersion, RemovedObject, Restoration } from '../../../lib/storage/object-store.ts'
import { contentIn } from '../../support/objects.ts'
import { Refusal } from '../../support/s3-messages.ts'
import { isBatch, isCopy, isListing, type Matcher, openS3Bench, type S3Bench } from './s3-bench.ts'

let bench: S3Bench
beforeEach(() => {
  bench = openS3Bench()
})
afterEach(() => void vi.useRealTimers())

/** Requests that other callers send to the bucket, without the store. */
const raw = (method: string, key: string, body = '') =>
  bench.s3.requestHandler.handle({ method, path: `/memory/${key}`, headers: { 'content-type': 'text/plain' }, body })
const put = async (key: string, ...contents: readonly string[]) => {
  for (const content of contents) await raw('PUT', key, content)
}
const hide = async (...keys: readonly string[]) => {
  for (const key of keys) await raw('DELETE', key)
}

const content = (key: string) => contentIn(bench.store, key)
const versionsOf = async (key: string): Promise<readonly ObjectVersion[]> =>
  (await bench.store.versions(key, { limit: 100 }))?.versions ?? []
const restorationOf = async (key: string, at = 0): Promise<Restoration> => {
  const version = (await versionsOf(key))[at]
  if (!version) throw new Error(`${key} has no version ${at}`)
  return { ...version, kind: 'restore', key }
}
/** Stores and removes objects whose content is their key. Returns the changes that restore them. */
const hidden = async (...keys: readonly string[]): Promise<readonly Restoration[]> => {
  for (const key of keys) await put(key, key)
  await hide(...keys)
  return Promise.all(keys.map((key) => restorationOf(key)))
}
const removedIn = async (prefix: string, from: number, to: number): Promise<readonly RemovedObject[]> => {
  const found: RemovedObject[] = []
  for await (const some of bench.store.removedWithin(prefix, { from, to })) found.push(...some)
  return found
}
/** Freezes the clock. */
const freeze = (now = Date.UTC(2026, 0, 1)): number => {
  vi.useFakeTimers({ toFake: ['Date'], now })
  return now
}

const takesMarkersAway: Matcher = (request) =>
  (request.method === 'DELETE' && request.query?.['versionId'] !== undefined) || isBatch(request)
const looksAtPresent: Matcher = ({ method, query = {} }) => method === 'HEAD' && query['versionId'] === undefined
/** The listings that `work` makes. */
const listingsOf = async (work: () => Promise<unknown>) => (await bench.requestsOf(work)).filter(isListing)

it.each([[['live/1/a']], [['live/1/a', 'live/1/b']]])(
  'A restore that is undone hides new uploads of other callers, too: %s',
  async (keys) => {
    const changes = await hidden(...keys)
    bench.meanwhile(takesMarkersAway, () => put('live/1/a', 'live/1/a'))
    const outcome = await bench.place(changes, { present: ['live/1/gone'] })
    expect(outcome).toEqual({ outcome: 'stale', key: 'live/1/gone' })
    expect(await bench.keys()).toEqual([])
  },
)

it('A file that came back within a second is in its last removal (H-21)', async () => {
  const start = freeze()
  await put('live/1/a', 'old')
  vi.setSystemTime(start + 10_000)
  await hide('live/1/a')
  await put('live/1/a', 'newer')
  vi.setSystemTime(start + 20_000)
  await hide('live/1/a')
  const removed = await removedIn('live/1/', start + 20_000, start + 20_000)
  expect(removed).toMatchObject([{ key: 'live/1/a', size: 5, hiddenBy: [expect.any(String)] }])
  expect(await versionsOf('live/1/a')).toMatchObject([{ goneAt: start + 20_000 }, { goneAt: start + 10_000 }])
})

it('A list is refused with 503 if its last version is deleted meanwhile', async () => {
  await put('live/1/a', 'old', 'newer')
  const [newest] = await versionsOf('live/1/a')
  const { id: versionId = '' } = newest ?? {}
  bench.meanwhile(isListing, () =>
    bench.s3.requestHandler.handle({ method: 'DELETE', path: '/memory/live/1/a', headers: {}, query: { versionId } }),
  )
  await expect(bench.store.versions('live/1/a', { after: versionId, limit: 1 })).rejects.toMatchObject({ code: 100503 })
})

describe('An object that is being restored', () => {
  const key = 'live/1/a'

  it('The object is restored although someone uploads the same bytes', async () => {
    const changes = await hidden(key)
    bench.meanwhile(takesMarkersAway, () => put(key, key))
    expect(await bench.place(changes)).toEqual({ outcome: 'placed' })
    expect(await content(key)).toBe(key)
  })

  it.each([
    ['before its copy', [key], isCopy],
    ['before its copy, in a folder that must be empty', ['live/1/'], isCopy],
    ['before the last check', ['live/1/'], looksAtPresent],
  ])('An older state does not replace an upload to a path that must be free: %s', async (_, absent, isMeant) => {
    await put(key, 'first', 'second')
    await hide(key)
    const change = await restorationOf(key, 1)
    bench.meanwhile(isMeant, () => put(key, 'upload'))
    expect(await bench.place([change], { absent })).toEqual({ outcome: 'occupied', key })
    expect(await content(key)).toBe('upload')
  })

  it('An upload that came meanwhile is not replaced, except by a repeated restore', async () => {
    await put(key, 'first', 'second')
    const change = await restorationOf(key, 1)
    bench.meanwhile(isCopy, () => put(key, 'upload'))
    expect(await bench.place([change])).toEqual({ outcome: 'stale', key })
    expect(await content(key)).toBe('upload')
    expect(await bench.place([change])).toEqual({ outcome: 'placed' })
    expect(await content(key)).toBe('first')
  })

  it('Many objects are not restored if one of them has other bytes meanwhile', async () => {
    const changes = await hidden(...Array.from({ length: 40 }, (_, index) => `live/1/${index}`))
    bench.meanwhile(takesMarkersAway, () => put('live/1/7', 'upload'))
    expect(await bench.place(changes)).toEqual({ outcome: 'stale', key: 'live/1/7' })
    expect(await bench.keys()).toEqual([])
  })

  it('Two objects of a large folder are restored without a listing', async () => {
    const changes = await hidden('live/1/a', 'live/1/b')
    expect(await listingsOf(() => bench.place(changes))).toEqual([])
    expect(await content('live/1/b')).toBe('live/1/b')
  })

  it('Many objects of a large folder are restored with few listings', async () => {
    const changes = await hidden(...Array.from({ length: 40 }, (_, index) => `live/1/z${index}`))
    for (let index = 0; index < 4_200; index++) await put(`live/1/m${index}`, 'x')
    const listings = await listingsOf(async () => expect(await bench.place(changes)).toEqual({ outcome: 'placed' }))
    expect(listings.length).toBeLessThanOrEqual(3)
    expect(await content('live/1/z39')).toBe('live/1/z39')
  })
})

describe('An object with thousands of versions', () => {
  const key = 'live/1/hot'
  const rewrite = async (times: number) => {
    for (let index = 0; index < times; index++) await put(key, 'x')
  }

  it('The removal of the object is found without reading all its versions', async () => {
    await rewrite(2_500)
    await put('live/1/other', 'y')
    await hide(key, 'live/1/other')
    let found: readonly RemovedObject[] = []
    const listings = await listingsOf(async () => {
      found = await removedIn('live/1/', 0, Date.now() + 5_000)
    })
    expect(found.map(({ key, hiddenBy }) => [key, hiddenBy?.length])).toEqual([
      [key, 1],
      ['live/1/other', 1],
    ])
    expect(listings.length).toBe(2)
    expect((await bench.store.listRemoved({ prefix: 'live/1/', limit: 10 })).entries).toMatchObject([
      { key, size: 1 },
      { key: 'live/1/other', size: 1 },
    ])
    expect(await bench.store.keptBelow('live/1/')).toEqual({ count: 2_501, bytes: 2_501 })
  })

  it('An old removal is found behind thousands of newer versions', async () => {
    const start = freeze()
    await put(key, 'removed')
    await hide(key)
    vi.setSystemTime(start + 10_000)
    await rewrite(2_100)
    const [found, ...others] = await removedIn('live/1/', start, start)
    expect(others).toEqual([])
    expect(found).toEqual({ key, id: 'version-1', size: 7, tag: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(await bench.store.keptBelow('live/1/')).toEqual({ count: 2_100, bytes: 2_099 + 'removed'.length })
  })
})

describe('The removed entries of a folder', () => {
  const prefix = 'live/1/'

  it('A folder keeps its time of removal when a purge adds delete markers (H-17)', async () => {
    const start = freeze()
    await put('live/1/f/', '')
    await hide('live/1/f/')
    vi.setSystemTime(start + 60_000)
    // Only delete markers are left of these files.
    await hide('live/1/f/purged', 'live/1/g/purged')
    const { entries } = await bench.store.listRemoved({ prefix, limit: 10 })
    expect(entries).toEqual([{ key: 'live/1/f/', removedAt: start, size: null }])
  })

  /** All pages, and the largest number of requests that a page needed. */
  const allPages = async (limit: number) => {
    const names: string[] = []
    let [pages, most, after]: [number, number, string | undefined] = [0, 0, undefined]
    do {
      const before = bench.s3.requests.length
      const page = await bench.store.listRemoved({ prefix, limit, after })
      most = Math.max(most, bench.s3.requests.length - before)
      expect(page.entries.length).toBeLessThanOrEqual(limit)
      names.push(...page.entries.map(({ key }) => key.slice(prefix.length)))
      after = page.next
      pages += 1
    } while (after !== undefined)
    return { names, pages, most }
  }

  it('A page of removed entries needs few requests among thousands of objects', async () => {
    for (let index = 0; index < 6_000; index++) await put(`${prefix}m${index}`, 'x')
    await put(`${prefix}z`, 'x')
    await hide(`${prefix}z`)
    const { names, pages, most } = await allPages(1)
    expect(names).toEqual(['z'])
    expect(pages).toBe(2)
    expect(most).toBeLessThanOrEqual(10)
  })

  it('A page reads only a few of hundreds of folders', async () => {
    for (let index = 0; index < 600; index++) await put(`${prefix}m${index}/a`, 'x')
    for (const name of ['a/1', 'y/1', 'z']) await put(`${prefix}${name}`, 'x')
    await hide(...['a/1', 'y/1', 'z'].map((name) => `${prefix}${name}`))
    const { names, most } = await allPages(1)
    expect(names).toEqual(['a/', 'y/', 'z'])
    expect(most).toBeLessThanOrEqual(230)
    const first = bench.s3.requests.length
    expect((await bench.store.listRemoved({ prefix, limit: 1 })).entries).toMatchObject([{ key: `${prefix}a/` }])
    expect(bench.s3.requests.length - first).toBeLessThanOrEqual(10)
  })

  it('A large folder shows the time of its last removal', async () => {
    const start = freeze()
    const names = Array.from({ length: 600 }, (_, index) => `${prefix}folder/m${index}`)
    for (const name of [...names, `${prefix}folder/z`]) await put(name, 'x')
    await hide(...names)
    vi.setSystemTime(start + 600_000)
    await hide(`${prefix}folder/z`)
    const { entries } = await bench.store.listRemoved({ prefix, limit: 10 })
    expect(entries).toEqual([{ key: `${prefix}folder/`, removedAt: start + 600_000, size: null }])
  })
})

describe('The versions of an object in S3', () => {
  const key = 'live/1/a'

  it('A request with expired credentials is not taken for an unknown version', async () => {
    await put(key, '1')
    const choose = () => undefined
    expect(await bench.store.readVersion(key, 'nonsense', choose)).toBeUndefined()
    bench.s3.before = async () => {
      throw new Refusal(400, 'ExpiredToken')
    }
    await expect(bench.store.readVersion(key, 'version-1', choose)).rejects.toThrow()
    await expect(bench.store.versions(key, { limit: 1, after: 'version-1' })).rejects.toThrow()
  })

  it('Only the requested versions of the object are listed', async () => {
    await put(key, '1', '22', '333')
    await hide(key)
    for (let index = 0; index < 100; index++) await put(`${key}${index}`, 'x')
    const [listing, ...others] = await listingsOf(() => bench.store.versions(key, { limit: 2 }))
    expect(others).toEqual([])
    expect(Number(listing?.query?.['max-keys'])).toBeLessThan(10)
    for (let round = 0; round < 10; round++) await hide(key)
    expect((await versionsOf(key)).map(({ size }) => size)).toEqual([3, 2, 1])
    const page = await bench.store.versions(key, { limit: 1 })
    expect(page?.versions).toMatchObject([{ size: 3, isRemoved: true }])
    expect(page?.versions[0]?.hiddenBy?.length).toBe(11)
  })
})
