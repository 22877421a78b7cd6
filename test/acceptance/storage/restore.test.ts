import { describe, expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { storage } from '../../support/paths.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, move, namesIn, ownFolder, put, read, remove, upload, versionsOf } from '../support/storage.ts'

const own = ownFolder()

const restore = (path: string, body: unknown = {}): Promise<Answer> =>
  call(at(path, '?restore'), { method: 'POST', body })

describe('A removed file', () => {
  it('A removed file is listed, and comes back as it was (H-17, H-20)', async () => {
    const path = `${own}/file/a.txt`
    await put(path, 'text')
    const { headers } = await read(path)
    await remove(path)
    expect((await read(`${own}/file`, '?deleted')).json.deleted).toEqual([
      { name: 'a.txt', type: 'file', removedAt: expect.any(String), size: 4 },
    ])
    const { status, json } = await restore(path)
    expect({ status, json }).toEqual({ status: 200, json: { status: 'success' } })
    const after = await read(path)
    expect([after.text, after.headers.etag]).toEqual(['text', headers.etag])
    expect((await read(`${own}/file`, '?deleted')).json.deleted).toEqual([])
  })

  it('A restore overwrites a file only when told to (H-24)', async () => {
    const path = `${own}/file/again.txt`
    await put(path, 'old')
    await remove(path)
    await put(path, 'newer')
    const [, old] = await versionsOf(path)
    expectError(await restore(path, { version: old?.version }), 400, 104022)
    expect((await restore(path, { version: old?.version, replace: true })).status).toBe(200)
    expect((await read(path)).text).toBe('old')
  })

  it('A restore of the present version changes nothing (H-20)', async () => {
    const path = `${own}/file/present.txt`
    await put(path, 'present')
    const [present] = await versionsOf(path)
    expect((await restore(path, { version: present?.version })).status).toBe(200)
    expect(await versionsOf(path)).toEqual([present])
  })

  it('A moved file comes back at its old place (H-26)', async () => {
    await put(`${own}/file/from.txt`, 'moved')
    expect((await move(`${own}/file/from.txt`, `${own}/file/to.txt`)).status).toBe(200)
    expect((await restore(`${own}/file/from.txt`)).status).toBe(200)
    expect((await read(`${own}/file/from.txt`)).text).toBe('moved')
  })

  it('A restore of nothing answers 404/104001 (E-29)', async () => {
    expectError(await restore(`${own}/file/never.txt`), 404, 104001)
  })
})

describe('A removed folder', () => {
  it('A removed folder comes back with every byte below it (H-17, H-19, H-21)', async () => {
    const folder = `${own}/folder`
    const files = Array.from({ length: 30 }, (_, index) => ({ name: `${index}.txt`, content: `text ${index}` }))
    await upload(`${folder}/below`, files)
    await put(`${folder}/empty`, '', '?type=folder')
    expect((await read(folder, '?removal')).json).toMatchObject({ files: 30, folders: 3 })
    await remove(folder)
    expect((await read(own, '?deleted')).json.deleted).toContainEqual({
      name: 'folder',
      type: 'folder',
      removedAt: expect.any(String),
      size: null,
    })
    expect((await read(folder, '?deleted')).json.deleted).toMatchObject([{ name: 'below' }, { name: 'empty' }])
    expect((await restore(folder)).status).toBe(200)
    expect(await namesIn(folder)).toEqual(['below/', 'empty/'])
    const texts = await Promise.all(files.map(({ name }) => read(`${folder}/below/${name}`)))
    expect(texts.map(({ text }) => text)).toEqual(files.map(({ content }) => content))
  })

  it('A restore onto contents answers 104022 unless told to (H-24)', async () => {
    const folder = `${own}/onto`
    await put(`${folder}/a.txt`, 'old')
    await remove(folder)
    await put(`${folder}/b.txt`, 'new')
    expectError(await restore(folder), 400, 104022)
    expect((await restore(folder, { replace: true })).status).toBe(200)
    expect(await namesIn(folder)).toEqual(['a.txt', 'b.txt'])
  })

  it('The root is not restored: 400/104014 (H-29)', async () => {
    expectError(await call(`${storage}?restore`, { method: 'POST', body: {} }), 400, 104014)
  })

  it('A malformed restore answers 400/104000 (E-28)', async () => {
    expectError(await restore(`${own}/onto`, { replace: 'yes' }), 400, 104000)
    expectError(await restore(`${own}/onto`, { unknown: 1 }), 400, 104000)
  })
})
