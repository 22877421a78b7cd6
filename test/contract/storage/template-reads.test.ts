import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf, statusAndCode } from '../../support/answer.ts'
import { fillFolder, openStorage, type StorageUnderTest } from './service.ts'

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

describe('a rename that makes templates of what were none', () => {
  it('checks every one of them, and changes nothing when one is none: the folder becomes that of the templates', async () => {
    await storage.put('/old/good.html', template)
    await storage.put('/old/below/bad.dwt', page)
    const before = await storage.keys()
    const answer = await storage.rename('/old', 'Templates')
    expect(statusAndCode(answer)).toEqual([400, 104008])
    expect(answer.json.message).toContain('Templates/below/bad.dwt')
    expect(await storage.keys()).toEqual(before)

    await storage.put('/old/below/bad.dwt', template)
    expect((await storage.rename('/old', 'Templates')).status).toBe(200)
    expect(await storage.textOf('/Templates/below/bad.dwt')).toBe(template)
  })

  it('leaves the drafts behind, since templates have none', async () => {
    await storage.put('/old/p.html', template)
    await storage.put('/old/p.html', 'draft', { version: 'draft' })
    expect((await storage.rename('/old', 'Templates')).status).toBe(200)
    expect(await storage.keys()).toEqual(['live/1001/Templates/', 'live/1001/Templates/p.html'])
  })

  it('checks the very bytes that it moves: what replaces them meanwhile is checked, too', async () => {
    await storage.put('/Templates/a.txt', template)
    onceRead = async () => {
      await storage.put('/Templates/a.txt', page)
    }
    expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104008)
    expect(await storage.textOf('/Templates/a.txt')).toBe(page)
  })

  it('finds nothing to be renamed when it is deleted meanwhile', async () => {
    await storage.put('/Templates/a.txt', page)
    beforeRead = async () => {
      await storage.remove('/Templates/a.txt')
    }
    expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104001)
  })

  it('tells that the name is taken before it reads anything', async () => {
    await storage.put('/Templates/a.txt', page)
    await storage.put('/Templates/a.html', template)
    onceRead = () => expect.unreachable()
    expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104022)
  })

  it('reads nothing of what is a template already, or becomes none', async () => {
    await storage.put('/Templates/a.html', template)
    await storage.put('/Templates/page.txt', page)
    onceRead = () => expect.unreachable()
    for (const [path, name] of [
      ['/Templates/a.html', 'b.dwt'],
      ['/Templates/b.dwt', 'b.txt'],
      ['/Templates/page.txt', 'page.css'],
    ] as const) {
      expect((await storage.rename(path, name)).status).toBe(200)
    }
  })
})

describe('a rename of a large folder', () => {
  it('goes in one go up to 10,000 objects; more is 400 / 104000, with all as it was (S-108)', async () => {
    // With the folder itself.
    await fillFolder(storage, '/large', 9_999)
    expect((await storage.rename('/large', 'renamed')).status).toBe(200)
    const before = await storage.keys()
    expect(before).toHaveLength(10_000)
    expect(before.every((key) => key.startsWith('live/1001/renamed/'))).toBe(true)

    await storage.put('/renamed/one-more', 'x')
    const answer = await storage.rename('/renamed', 'again')
    expect(statusAndCode(answer)).toEqual([400, 104000])
    expect(answer.json.message).toMatch(/too large to rename .* Upload it under its new name/)
    expect(await storage.keys()).toEqual([...before, 'live/1001/renamed/one-more'].sort())
  })

  it('is 400 / 104000, with all as it was, when there is no time left for it', async () => {
    await fillFolder(storage, '/large', 10)
    const before = await storage.keys()
    const answer = await storage.rename('/large', 'renamed', { remaining: 0 })
    expect(statusAndCode(answer)).toEqual([400, 104000])
    expect(await storage.keys()).toEqual(before)
  })
})
