import { expect, test, vi } from 'vitest'
import type { FoundItem } from '../../../client/src/index.ts'
import { createNameSearch } from '../../../console/files/name-search.ts'
import { siteOf } from '../support/site.ts'

const item = (path: string): FoundItem => ({ path, type: 'file', size: 1, lastUpdateDate: '2026-01-01T00:00:00Z' })

test('a search waits 300 ms for the next key, and a late answer is dropped (K-22)', async () => {
  vi.useFakeTimers()
  const asked: { text: string; signal: AbortSignal | undefined; answer: (items: readonly FoundItem[]) => void }[] = []
  const client = siteOf({
    async *search(_folder, text, signal) {
      const { promise, resolve } = Promise.withResolvers<readonly FoundItem[]>()
      asked.push({ text, signal, answer: resolve })
      yield* await promise
    },
  })
  const search = createNameSearch(
    () => client,
    () => 'news',
  )
  for (const text of ['r', 're']) search.type(text)
  await vi.advanceTimersByTimeAsync(299)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  search.type('rep')
  expect(asked.map(({ text, signal }) => [text, signal?.aborted])).toEqual([['re', true]])
  await vi.advanceTimersByTimeAsync(300)
  const [late, newest] = asked
  newest?.answer([item('news/report.txt')])
  late?.answer([item('news/red.txt')])
  await vi.advanceTimersByTimeAsync(0)
  vi.useRealTimers()
  expect(search.found.value?.map(({ path }) => path)).toEqual(['news/report.txt'])
  expect([search.isSearching.value, search.hasMore.value]).toEqual([false, false])
})
