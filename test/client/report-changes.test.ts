import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reportChanges } from '../../client/src/command/report-changes.ts'
import { siteOf } from '../console/support/site.ts'
import { changeWith } from './support/change.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('watch shows all changes of other people a second after they arrive (T-66)', async () => {
  const shown: string[] = []
  vi.spyOn(console, 'error').mockImplementation((text) => shown.push(text))
  const ids = ['own', 'late', 'a', 'b', 'c']
  const client = {
    ...siteOf({}),
    changes: {
      newest: async () => [],
      async *list() {},
      page: async () => ({ items: [], next: undefined }),
      async *follow() {
        for (const requestId of ids) yield changeWith({ subject: requestId, requestId })
      },
    },
  }
  const own = new Set(['own'])
  const { signal } = new AbortController()
  await reportChanges({ client, json: false, signal, isOwn: (id) => own.has(id ?? '') }, '', signal)
  // The answer to a request of this process may arrive after the report of its change.
  own.add('late')
  await vi.advanceTimersByTimeAsync(999)
  expect(shown).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(shown.map((line) => line.split(' ')[4])).toEqual(['a', 'b', 'c'])
})
