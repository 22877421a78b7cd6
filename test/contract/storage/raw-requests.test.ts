import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStorage, type StorageUnderTest } from './service.ts'

/** What a gateway may take for itself: bytes in a path that are no text, and bodies that it would never let through. */
let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

const codeOf = ({ statusCode, body }: { readonly statusCode: number; readonly body: string }) => [
  statusCode,
  JSON.parse(body).code,
]

describe('bytes in a path that are no text', () => {
  it.each(['%C0%AE%C0%AE', '%E2%82', '%', '%ff'])('%s is 400 / 104015, and 400 / 104009 on DELETE', async (path) => {
    expect(codeOf(await storage.call('PUT', `/${path}`, { body: 'x' }))).toEqual([400, 104015])
    expect(codeOf(await storage.call('GET', `/${path}`))).toEqual([400, 104015])
    expect(codeOf(await storage.call('DELETE', `/${path}`))).toEqual([400, 104009])
  })
})

describe('a path is decoded exactly once', () => {
  it('%25 is a percent sign in a name', async () => {
    await storage.call('PUT', '/100%25.txt', { body: 'x' })
    const { body } = await storage.call('GET', '/100%25.txt', { query: { meta: '' } })
    expect(JSON.parse(body).name).toBe('100%.txt')
  })

  it('%2F is a separator like any other', async () => {
    await storage.call('PUT', '/a%2Fb.txt', { body: 'x' })
    expect((await storage.call('GET', '/a/b.txt')).statusCode).toBe(200)
  })
})

it('a declared length over the limit is 400 / 104005, before anything of the body is read', async () => {
  const body = new Readable({ read: () => expect.unreachable() })
  const headers = { 'Content-Length': String(10 * 1024 ** 3), 'Content-Type': 'application/octet-stream' }
  const answer = await storage.call('PUT', '/huge', { headers, body })
  expect(codeOf(answer)).toEqual([400, 104005])
  expect(JSON.parse(answer.body).message).toMatch(/\d+ bytes/)
})
