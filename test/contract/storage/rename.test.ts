import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf, fillFolder, keysOf, openStorage, renameTo, type StorageUnderTest } from './service.ts'

const template = '<html>{tag_pagecontent}</html>'
const page = '<html></html>'

let storage: StorageUnderTest
/** What happens next before a file is read, and after that, before anything else goes on. */
let beforeRead: (() => Promise<void>) | undefined
let onceRead: (() => Promise<void>) | undefined

const watchingReads = (store: ObjectStore): ObjectStore => ({
  ...store,
  async read(...args) {
    const [before, after] = [beforeRead, onceRead]
    beforeRead = undefined
    onceRead = undefined
    await before?.()
    const object = await store.read(...args)
    await after?.()
    return object
  },
})

beforeEach(async () => {
  beforeRead = undefined
  onceRead = undefined
  storage = await openStorage({ between: ({ files }) => ({ files: watchingReads(files) }) })
})
afterEach(() => storage.close())

const put = (path: string, body: string, query = {}) => storage.call('PUT', path, { body, query })
const textOf = async (path: string, query = {}) => {
  const { statusCode, body } = await storage.call('GET', path, { query })
  return statusCode === 200 ? body : undefined
}

describe('a rename that makes templates of what were none', () => {
  it('checks every one of them, and changes nothing when one is none: the folder becomes that of the templates', async () => {
    await put('/old/good.html', template)
    await put('/old/below/bad.dwt', page)
    const before = await keysOf(storage)
    const answer = await renameTo(storage, '/old', 'Templates')
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 104008])
    expect(JSON.parse(answer.body).message).toContain('Templates/below/bad.dwt')
    expect(await keysOf(storage)).toEqual(before)

    await put('/old/below/bad.dwt', template)
    expect((await renameTo(storage, '/old', 'Templates')).statusCode).toBe(200)
    expect(await textOf('/Templates/below/bad.dwt')).toBe(template)
  })

  it('leaves the drafts behind, since templates have none', async () => {
    await put('/old/p.html', template)
    await put('/old/p.html', 'draft', { version: 'draft' })
    expect((await renameTo(storage, '/old', 'Templates')).statusCode).toBe(200)
    expect(await keysOf(storage)).toEqual(['live/1001/Templates/', 'live/1001/Templates/p.html'])
  })

  it('checks the very bytes that it moves: what replaces them meanwhile is checked, too', async () => {
    await put('/Templates/a.txt', template)
    onceRead = async () => {
      await put('/Templates/a.txt', page)
    }
    expect(codeOf(await renameTo(storage, '/Templates/a.txt', 'a.html'))).toBe(104008)
    expect(await textOf('/Templates/a.txt')).toBe(page)
  })

  it('finds nothing to be renamed when it is deleted meanwhile', async () => {
    await put('/Templates/a.txt', page)
    beforeRead = async () => {
      await storage.call('DELETE', '/Templates/a.txt')
    }
    expect(codeOf(await renameTo(storage, '/Templates/a.txt', 'a.html'))).toBe(104001)
  })

  it('tells that the name is taken before it reads anything', async () => {
    await put('/Templates/a.txt', page)
    await put('/Templates/a.html', template)
    onceRead = () => expect.unreachable()
    expect(codeOf(await renameTo(storage, '/Templates/a.txt', 'a.html'))).toBe(104022)
  })

  it('reads nothing of what is a template already, or becomes none', async () => {
    await put('/Templates/a.html', template)
    await put('/Templates/page.txt', page)
    onceRead = () => expect.unreachable()
    for (const [path, name] of [
      ['/Templates/a.html', 'b.dwt'],
      ['/Templates/b.dwt', 'b.txt'],
      ['/Templates/page.txt', 'page.css'],
    ] as const) {
      expect((await renameTo(storage, path, name)).statusCode).toBe(200)
    }
  })
})

describe('a rename of a large folder', () => {
  it('goes in one go up to 10,000 objects; more is 400 / 104000, with all as it was', async () => {
    // With the folder itself.
    await fillFolder(storage, '/large', 9_999)
    expect((await renameTo(storage, '/large', 'renamed')).statusCode).toBe(200)
    const before = await keysOf(storage)
    expect(before).toHaveLength(10_000)
    expect(before.every((key) => key.startsWith('live/1001/renamed/'))).toBe(true)

    await put('/renamed/one-more', 'x')
    const answer = await renameTo(storage, '/renamed', 'again')
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 104000])
    expect(JSON.parse(answer.body).message).toMatch(/too large to rename .* Upload it under its new name/)
    expect(await keysOf(storage)).toEqual([...before, 'live/1001/renamed/one-more'].sort())
  })

  it('is 400 / 104000, with all as it was, when there is no time left for it', async () => {
    await fillFolder(storage, '/large', 10)
    const before = await keysOf(storage)
    const answer = await renameTo(storage, '/large', 'renamed', { remaining: 0 })
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 104000])
    expect(await keysOf(storage)).toEqual(before)
  })
})
