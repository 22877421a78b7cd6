import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codeOf, formHeaders, multipart, type Outcome, openStorage, type StorageUnderTest } from './service.ts'

/**
 * Somebody else comes right before the store puts in place what has been found to be right: a real store, with that in
 * front of it.
 */
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

const path = '/folder/page.html'
const put = (body: string, headers: Readonly<Record<string, string>> = {}) =>
  storage.call('PUT', path, { body, headers })
const contentNow = async () => (await storage.call('GET', path)).body
const told = (answer: Outcome) => [answer.statusCode, codeOf(answer)]

const changes = [
  { name: 'PUT', ask: (headers: Readonly<Record<string, string>>) => put('mine', headers), left: 'mine' },
  {
    name: 'POST',
    ask: (headers: Readonly<Record<string, string>>) =>
      storage.call('POST', '/folder', {
        headers: { ...formHeaders, ...headers },
        body: multipart([{ name: 'page.html', content: 'mine' }]),
      }),
    left: 'mine',
  },
  {
    name: 'DELETE',
    ask: (headers: Readonly<Record<string, string>>) => storage.call('DELETE', path, { headers }),
    left: undefined,
  },
  {
    name: 'rename',
    ask: (headers: Readonly<Record<string, string>>) =>
      storage.call('PUT', path, {
        query: { meta: '' },
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ name: 'other.html' }),
      }),
    left: undefined,
  },
]

describe.each(changes)('a $name of a file that is replaced at the last moment', ({ ask, left }) => {
  beforeEach(() => {
    meanwhile = () => put(`theirs ${times}`)
    times = 1
  })

  it('goes on when its condition still holds', async () => {
    for (const headers of [{ 'If-Match': '*' }, { 'If-None-Match': '"x"' }]) {
      times = 1
      await put('old')
      await storage.call('DELETE', '/folder/other.html')
      expect(told(await ask(headers))).toEqual([200, undefined])
      expect(times).toBe(0)
      const { statusCode, body } = await storage.call('GET', path)
      expect(statusCode === 200 ? body : undefined).toBe(left)
    }
  })

  it('is 412 when it does not hold any more', async () => {
    const { headers } = await storage.call('HEAD', path)
    expect(told(await ask({ 'If-Match': headers['ETag'] ?? '' }))).toEqual([412, 100412])
    expect(await contentNow()).toBe('theirs 0')
    expect(storage.leftovers()).toBe(0)
  })

  it('is 503 when it is replaced again and again, and changes nothing', async () => {
    times = 99
    expect(told(await ask({ 'If-Match': '*' }))).toEqual([503, 100503])
    expect(await contentNow()).toMatch(/^theirs/)
    expect(storage.leftovers()).toBe(0)
  })
})

it('a draft is not put onto a live page that has changed at the last moment, or where another draft has come', async () => {
  for (const query of [undefined, { version: 'draft' }]) {
    await put('old')
    const { headers } = await storage.call('HEAD', path)
    times = 1
    meanwhile = () => storage.call('PUT', path, { body: 'theirs', ...(query && { query }) })
    const ifMatch = { 'If-Match': headers['ETag'] ?? '' }
    const answer = await storage.call('PUT', path, { body: 'mine', headers: ifMatch, query: { version: 'draft' } })
    expect(told(answer)).toEqual([412, 100412])
    const draft = await storage.call('GET', path, { query: { version: 'draft' } })
    expect(draft.body).toBe('theirs')
  }
})
