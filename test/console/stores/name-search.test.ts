import { expect, test, vi } from 'vitest'
import type { FoundItem } from '../../../client/src/index.ts'
import { createNameSearch } from '../../../console/files/name-search.ts'
import { siteOf } from '../support/site.ts'

const item = (path: string): FoundItem => ({ path, type: 'file', size: 1, lastUpdateDate: '2026-01-01T00:00:00Z' })

/** A site whose searches answer when the test allows it. */
const heldSite = () => {
  const asked: { readonly text: string; readonly signal: AbortSignal | undefined }[] = []
  const answers = new Map<string, (items: readonly FoundItem[]) => void>()
  const client = siteOf({
    async *search(_folder, text, signal) {
      asked.push({ text, signal })
      yield* await new Promise<readonly FoundItem[]>((resolve) => answers.set(text, resolve))
    },
  })
  const search = createNameSearch(
    () => client,
    () => 'news',
  )
  const answer = (text: string, items: readonly FoundItem[]) =>
    vi.waitFor(() => answers.get(text)?.(items) ?? expect(answers.has(text)).toBe(true))
  return { search, asked, answer }
}

test('a search waits 300 ms for the next key, and a late answer is dropped (K-22)', async () => {
  vi.useFakeTimers()
  const { search, asked, answer } = heldSite()
  for (const text of ['r', 're']) search.type(text)
  await vi.advanceTimersByTimeAsync(299)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  search.type('rep')
  expect(asked.map(({ text, signal }) => [text, signal?.aborted])).toEqual([['re', true]])
  await vi.advanceTimersByTimeAsync(300)
  await answer('rep', [item('news/report.txt')])
  await answer('re', [item('news/red.txt')])
  await vi.advanceTimersByTimeAsync(0)
  vi.useRealTimers()
  expect(search.found.value?.map(({ path }) => path)).toEqual(['news/report.txt'])
  expect([search.isSearching.value, search.hasMore.value]).toEqual([false, false])
})
