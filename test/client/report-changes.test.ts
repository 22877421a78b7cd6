import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reportChanges } from '../../client/src/command/report-changes.ts'
import { type Change, type FollowQuery, ServiceError } from '../../client/src/index.ts'
import { entry, siteOf } from '../console/support/site.ts'
import { changeWith } from './support/change.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Reports the changes below a folder, after failures with these statuses. Returns the printed lines. */
const report = (
  folder: string,
  changes: readonly Partial<Change>[],
  isOwn = (_: string | null) => false,
  statuses: readonly number[] = [],
) => {
  const shown: string[] = []
  vi.spyOn(console, 'error').mockImplementation((text) => shown.push(text))
  const client = {
    ...siteOf({ stat: async () => ({ ...entry('b', { type: 'folder' }), etag: '1' }) }),
    changes: {
      newest: async () => [],
      async *list() {},
      page: async () => ({ items: [], next: undefined }),
      async *follow({ onConnection }: FollowQuery = {}) {
        for (const status of statuses)
          onConnection?.(new ServiceError({ status, code: status, message: `The answer was ${status}.` }))
        yield* changes.map(changeWith)
      },
    },
  }
  const { signal } = new AbortController()
  return { shown, ended: reportChanges({ client, json: false, signal, isOwn }, folder, signal) }
}

test('watch shows all changes of other people a second after they arrive (T-66)', async () => {
  const own = new Set(['own'])
  const changes = ['own', 'late', 'a', 'b', 'c'].map((requestId) => ({ subject: requestId, requestId }))
  const { shown, ended } = report('', changes, (id) => own.has(id ?? ''))
  await ended
  // The answer to a request of this process may arrive after the report of its change.
  own.add('late')
  await vi.advanceTimersByTimeAsync(999)
  expect(shown).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(shown.map((line) => line.split(' ')[4])).toEqual(['a', 'b', 'c'])
})

test('watch shows a change of a whole folder above, but not of other files (T-66)', async () => {
  const { shown, ended } = report('a/b', [
    { type: 'folder.created', subject: 'a' },
    { type: 'folder.removed', subject: 'a' },
    { type: 'folder.restored', subject: 'a' },
    { type: 'file.moved', subject: 'a', details: { to: 'c' } },
    { type: 'file.copied', subject: 'd', details: { to: 'a' } },
    { type: 'file.moved', subject: 'a/x', details: { to: 'ab' } },
  ])
  await ended
  await vi.advanceTimersByTimeAsync(1_000)
  expect(shown.map((line) => /: (.*) \(/.exec(line)?.[1])).toEqual(['a', 'a', 'a → c', 'd → a'])
})

test('watch says once that a proxy refuses to show changes, and continues (T-66)', async () => {
  const { shown, ended } = report('', [{ subject: 'a' }], undefined, [0, 503, 429, 403, 404])
  await ended
  expect(shown).toEqual(['Changes on the site are not shown: The answer was 403.'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(shown).toHaveLength(2)
})
