import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

/** A storage where another caller changes a file between the check of its conditions and its placement. */
let storage: StorageUnderTest
let meanwhile: (() => Promise<unknown>) | undefined
let times: number

beforeEach(async () => {
  meanwhile = undefined
  times = 0
  storage = await openStorage({
    between: ({ files }) => ({
      files: {
        ...files,
        async place(changes, conditions, entry) {
          const come = times > 0 && (conditions.matching?.length ?? 0) > 0 ? meanwhile : undefined
          times -= come ? 1 : 0
          await come?.()
          return files.place(changes, conditions, entry)
        },
      },
    }),
  })
  await put('old')
})
afterEach(() => storage.close())

type Fields = Readonly<Record<string, string>>

const path = '/folder/page.html'
const put = (body: string, headers?: Fields) => storage.put(path, body, {}, headers)

const changes = [
  { name: 'PUT', ask: (headers: Fields) => put('mine', headers), left: 'mine' },
  {
    name: 'POST',
    ask: (headers: Fields) => storage.post('/folder', [{ name: 'page.html', content: 'mine' }], { headers }),
    left: 'mine',
  },
  {
    name: 'DELETE',
    ask: (headers: Fields) => storage.remove(path, { headers }),
    left: undefined,
  },
  {
    name: 'rename',
    ask: (headers: Fields) => storage.rename(path, 'other.html', { headers }),
    left: undefined,
  },
]

describe.each(changes)('A $name of a file that is replaced just before the change', ({ ask, left }) => {
  beforeEach(() => {
    meanwhile = () => put(`theirs ${times}`)
    times = 1
  })

  it('The change succeeds if its condition is still true (S-64)', async () => {
    for (const headers of [{ 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
      times = 1
      await put('old')
      await storage.remove('/folder/other.html')
      expect(statusAndCode(await ask(headers))).toEqual([200, undefined])
      expect(times).toBe(0)
      expect(await storage.textOf(path)).toBe(left)
    }
  })

  it('The change answers 412 if its condition is no longer true (S-64)', async () => {
    expect(statusAndCode(await ask({ 'If-Match': await storage.tagOf(path) }))).toEqual([412, 100412])
    expect(await storage.textOf(path)).toBe('theirs 0')
    expect(storage.leftovers()).toBe(0)
  })
})

it('A write of a draft is refused if the page or its draft changed at the last moment (S-61)', async () => {
  for (const query of [undefined, { version: 'draft' }]) {
    await put('old')
    const ifMatch = { 'If-Match': await storage.tagOf(path) }
    times = 1
    meanwhile = () => storage.put(path, 'theirs', query)
    const answer = await storage.put(path, 'mine', { version: 'draft' }, ifMatch)
    expect(statusAndCode(answer)).toEqual([412, 100412])
    expect(await storage.textOf(path, { version: 'draft' })).toBe('theirs')
  }
})
