import { expect, test } from 'vitest'
import { roles } from '../../../lib/access/people.ts'
import type { Change, ChangeType } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { parseRight } from '../../../lib/core/rights.ts'
import { type ChangePage, changesAfter, changesBefore, type History } from '../../../lib/history/history.ts'

const site = 1001 as SiteId

/** A history of `count` changes, and a counter of reads. Bob made the changes at these positions. */
const historyOf = (count: number, byBob: readonly number[]) => {
  const changes = Array.from({ length: count }, (_, index): Change => {
    const position = index + 1
    const actor = byBob.includes(position) ? 'bob' : 'ann'
    return { site, position, at: position, type: 'form.created', subject: 'form/1', actor }
  })
  let read = 0
  const noted = (some: readonly Change[]) => {
    read += some.length
    return some
  }
  const history: History = {
    after: async (_, position, limit) => noted(changes.slice(position, position + limit)),
    before: async (_, position = count + 1, limit) =>
      noted(changes.slice(Math.max(0, position - 1 - limit), position - 1)),
    watch: still,
  }
  return { history, read: () => read }
}

const still = () => () => {}
/** A history of these changes, which fit into one read. Their positions begin with 1. */
const historyWith = (changes: readonly Change[]): History => ({
  after: async (_, position) => changes.slice(position),
  before: async (_, position = changes.length + 1) => changes.slice(0, position - 1),
  watch: still,
})
const byBob = { actor: 'bob', rights: roles.owner.rights }
const positions = (changes: readonly Change[]) => changes.map(({ position }) => position)

test('a page reads at most 10,000 changes, and `next` leads to the other changes', async () => {
  const { history, read } = historyOf(25_000, [12_345, 24_000])
  const first = await changesAfter(history, site, 0, 500, byBob)
  expect({ ...first, read: read() }).toEqual({ changes: [], next: 10_000, read: 10_000 })
  const second = await changesAfter(history, site, 10_000, 500, byBob)
  expect({ found: positions(second.changes), next: second.next }).toEqual({ found: [12_345], next: 20_000 })
  const third = await changesAfter(history, site, 20_000, 500, byBob)
  expect({ found: positions(third.changes), next: third.next }).toEqual({ found: [24_000], next: 25_000 })
  expect(await changesAfter(history, site, 25_000, 500, byBob)).toEqual({ changes: [], next: undefined })
})

test('a page has as many changes as fit, and `next` leads to the others', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `${index} ${'"'.repeat(250)}`)
  const large = Array.from({ length: 200 }, (_, index): Change => {
    const position = index + 1
    return { site, position, at: position, type: 'file.stored', subject: 'folder', actor: 'ann', details: { names } }
  })
  const history = historyWith(large)
  const seen: Change[] = []
  for (let next: number | undefined = 0; next !== undefined; ) {
    const page: ChangePage = await changesAfter(history, site, next, 500, { rights: roles.owner.rights })
    expect(Buffer.byteLength(JSON.stringify(page.changes))).toBeLessThan(4_000_000)
    seen.push(...page.changes)
    next = page.next
  }
  expect(seen).toEqual(large)
  const filter = { rights: roles.owner.rights }
  const newest = await changesBefore(history, site, { limit: 500, filter })
  expect(newest.changes.length).toBeGreaterThan(5)
  expect(newest.changes.toReversed()).toEqual(large.slice(-newest.changes.length))
  expect(newest.next).toBe(newest.changes.at(-1)?.position)
  const all = await changesBefore(history, site, { limit: 500, filter, bytes: Number.POSITIVE_INFINITY })
  expect(all.changes).toEqual(large.toReversed())
})

test('the newest page reads at most 10,000 changes, and `end` is the newest of them', async () => {
  const { history, read } = historyOf(25_000, [14_000, 16_000, 24_000])
  const { changes, end } = await changesBefore(history, site, { limit: 500, filter: byBob })
  expect([positions(changes), end, read()]).toEqual([[24_000, 16_000], 25_000, 10_000])
})

test('the newest page reads no more changes than its caller allows', async () => {
  const { history, read } = historyOf(25_000, [])
  await changesBefore(history, site, { limit: 500, filter: byBob, most: 2_000 })
  expect(read()).toBe(2_000)
})

test('a page with `since` reads no changes that are much older', async () => {
  const { history, read } = historyOf(200_000, [])
  const filter = { since: 199_999, rights: roles.owner.rights }
  const { changes } = await changesBefore(history, site, { limit: 10, filter: { ...filter, actor: 'bob' } })
  expect(changes).toEqual([])
  // Clocks differ, so the service also reads the changes of the minute before.
  expect(read()).toBeGreaterThan(10)
  const all = await changesBefore(history, site, { limit: 10, filter })
  expect(positions(all.changes)).toEqual([200_000, 199_999])
})

test('a caller sees changes of the files and forms that the rights cover (A-47, H-12)', async () => {
  const about = (type: ChangeType, subject: string) => ({ type, subject })
  const entries = [
    about('file.stored', 'news/a'),
    about('form.created', 'form/1'),
    about('field.updated', 'form/1/field/-2'),
    about('content.imported', 'field'),
    about('category.created', 'category/1'),
    about('object.removed', 'news/36'),
    about('link.added', 'category/1/news'),
    about('content.imported', 'news'),
    about('token.created', 'token/abc'),
    about('site.changed', 'site/1001'),
    about('folder.removed', 'newsroom'),
  ]
  const changes = entries.map((one, at): Change => ({ ...one, site, position: at + 1, at, actor: 'ann' }))
  const history = historyWith(changes)
  const seenWith = async (texts: readonly string[], withTokens = false) => {
    const rights = texts.map(parseRight).filter((right) => right !== undefined)
    return positions((await changesAfter(history, site, 0, 500, { rights, withTokens })).changes)
  }
  expect(await seenWith(['files:write:/news'])).toEqual([1, 10])
  expect(await seenWith(['files:read'])).toEqual([1, 10, 11])
  expect(await seenWith(['forms:read'])).toEqual([2, 3, 4, 10])
  expect(await seenWith(['categories:write'])).toEqual([5, 6, 7, 8, 10])
  expect(await seenWith(['access:read'])).toEqual([9, 10])
  expect(await seenWith([], true)).toEqual([9, 10])
})
