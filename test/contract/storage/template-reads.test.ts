import { beforeEach, expect, it, vi } from 'vitest'
import { codeOf } from '../../support/answer.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const template = '<html>{tag_pagecontent}</html>'
const page = '<html></html>'

let storage: StorageUnderTest
beforeEach(async () => {
  storage = await openStorage()
})
const refuseReads = () => vi.spyOn(storage.deps.files, 'read').mockImplementation(() => expect.unreachable())

it('A file that is replaced after its check is checked again: 104008 (S-26)', async () => {
  const { files } = storage.deps
  const { read } = files
  await storage.put('/Templates/a.txt', template)
  vi.spyOn(files, 'read').mockImplementationOnce(async (...given) => {
    const object = await read(...given)
    await storage.put('/Templates/a.txt', page)
    return object
  })
  expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104008)
  expect(await storage.read('/Templates/a.txt')).toBe(page)
})

it('A rename answers 104001 if the file is deleted before the template check', async () => {
  const { files } = storage.deps
  const { read } = files
  await storage.put('/Templates/a.txt', page)
  vi.spyOn(files, 'read').mockImplementationOnce(async (...given) => {
    await storage.remove('/Templates/a.txt')
    return read(...given)
  })
  expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html'))).toBe(104001)
})

it('A file is read only if its new name is free, and turns it into a template (S-53)', async () => {
  await storage.put('/Templates/a.html', template)
  await storage.put('/Templates/page.txt', page)
  refuseReads()
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
  const reads = refuseReads()
  expect(codeOf(await storage.rename('/Templates/a.txt', 'a.html', { remaining: 0 }))).toBe(104000)
  reads.mockRestore()
  expect(await storage.read('/Templates/a.txt')).toBe(page)
})
