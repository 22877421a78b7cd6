import { beforeEach, expect, it } from 'vitest'
import type { ObjectStore } from '../../../lib/storage/object-store.ts'
import { codeOf } from '../../support/answer.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const template = '<html>{tag_pagecontent}</html>'
const page = '<html></html>'

let storage: StorageUnderTest
type Act = () => Promise<unknown>
/** The acts of another caller, once, right before and right after the next read of a file. */
let meanwhile: { readonly before?: Act; readonly after?: Act } = {}

const watchingReads = (store: ObjectStore): ObjectStore => ({
  ...store,
  async read(...args) {
    const { before, after } = meanwhile
    meanwhile = {}
    await before?.()
    const object = await store.read(...args)
    await after?.()
    return object
  },
})

beforeEach(async () => {
  meanwhile = {}
  storage = await openStorage({ between: ({ files }) => ({ files: watchingReads(files) }) })
})

it('A file that is replaced after its check is checked again: 104008 (S-26)', async () => {
  await storage.put('/Templates/a.txt', template)
  meanwhile = { after: () => storage.put('/Templates/a.txt', page) }
  expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104008)
  expect(await storage.read('/Templates/a.txt')).toBe(page)
})

it('A rename answers 104001 if the file is deleted before the template check', async () => {
  await storage.put('/Templates/a.txt', page)
  meanwhile = { before: () => storage.remove('/Templates/a.txt') }
  expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104001)
})

it('A file is read only if its new name is free, and turns it into a template (S-53)', async () => {
  await storage.put('/Templates/a.html', template)
  await storage.put('/Templates/page.txt', page)
  meanwhile = { after: () => expect.unreachable() }
  expect(codeOf(await storage.rename('/Templates/page.txt', 'a.html'))).toBe(104022)
  for (const [path, name] of [
    ['/Templates/a.html', 'b.dwt'],
    ['/Templates/b.dwt', 'b.txt'],
    ['/Templates/page.txt', 'page.css'],
  ] as const) {
    expect((await storage.rename(path, name)).status).toBe(200)
  }
})

it('A rename without time for its templates reads none of them (S-26)', async () => {
  await storage.put('/Templates/a.txt', page)
  meanwhile = { before: () => expect.unreachable() }
  expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html', { remaining: 0 }))).toBe(104000)
  meanwhile = {}
  expect(await storage.read('/Templates/a.txt')).toBe(page)
})
