import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

/** What a gateway may take for itself: bytes in a path that are no text, and bodies that it would never let through. */
let storage: StorageUnderTest

beforeAll(async () => {
  storage = await openStorage()
})

afterAll(() => storage.close())

describe('bytes in a path that are no text', () => {
  it.each(['%C0%AE%C0%AE', '%E2%82', '%', '%ff'])('%s is 400 / 104015, and 400 / 104009 on DELETE', async (path) => {
    expect(statusAndCode(await storage.put(`/${path}`, 'x'))).toEqual([400, 104015])
    expect(statusAndCode(await storage.get(`/${path}`))).toEqual([400, 104015])
    expect(statusAndCode(await storage.remove(`/${path}`))).toEqual([400, 104009])
  })
})

describe('a path is decoded exactly once', () => {
  it('%25 is a percent sign in a name', async () => {
    await storage.put('/100%25.txt', 'x')
    expect((await storage.get('/100%25.txt', { meta: '' })).json.name).toBe('100%.txt')
  })

  it('%2F is a separator like any other', async () => {
    await storage.put('/a%2Fb.txt', 'x')
    expect((await storage.get('/a/b.txt')).status).toBe(200)
  })
})

it('a declared length over the limit is 400 / 104005, before anything of the body is read', async () => {
  const body = new Readable({ read: () => expect.unreachable() })
  const headers = { 'Content-Length': String(10 * 1024 ** 3), 'Content-Type': 'application/octet-stream' }
  const answer = await storage.call('PUT', '/huge', { headers, body })
  expect(statusAndCode(answer)).toEqual([400, 104005])
  expect(answer.json.message).toMatch(/\d+ bytes/)
})
