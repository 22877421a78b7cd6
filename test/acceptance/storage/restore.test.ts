import { describe, expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, move, namesIn, ownFolder, put, read, remove, upload, versionsOf } from '../support/storage.ts'

const own = ownFolder()

const restore = (path: string, body: unknown = {}): Promise<Answer> =>
  call(at(path, '?restore'), { method: 'POST', body })

describe('a removed file', () => {
  it('is listed in its folder, and comes back as it was', async () => {
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

  it('does not come over what is there meanwhile, 400 / 104022, unless it is told to', async () => {
    const path = `${own}/file/again.txt`
    await put(path, 'old')
    await remove(path)
    await put(path, 'newer')
    const [, old] = await versionsOf(path)
    expectError(await restore(path, { version: old?.version }), 400, 104022)
    expect((await restore(path, { version: old?.version, replace: true })).status).toBe(200)
    expect((await read(path)).text).toBe('old')
  })

  it('comes back at the place that it was moved away from', async () => {
    await put(`${own}/file/from.txt`, 'moved')
    expect((await move(`${own}/file/from.txt`, `${own}/file/to.txt`)).status).toBe(200)
    expect((await restore(`${own}/file/from.txt`)).status).toBe(200)
    expect((await read(`${own}/file/from.txt`)).text).toBe('moved')
  })

  it('that never was is 404 / 104001', async () => {
    expectError(await restore(`${own}/file/never.txt`), 404, 104001)
  })
})

describe('a removed folder', () => {
  it('comes back with every byte below it, by one call', async () => {
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
    expect((await restore(folder)).status).toBe(200)
    expect(await namesIn(folder)).toEqual(['below/', 'empty/'])
    const texts = await Promise.all(files.map(({ name }) => read(`${folder}/below/${name}`)))
    expect(texts.map(({ text }) => text)).toEqual(files.map(({ content }) => content))
  })

  it('does not come back onto anything below it, 400 / 104022, unless it is told to', async () => {
    const folder = `${own}/onto`
    await put(`${folder}/a.txt`, 'old')
    await remove(folder)
    await put(`${folder}/b.txt`, 'new')
    expectError(await restore(folder), 400, 104022)
    expect((await restore(folder, { replace: true })).status).toBe(200)
    expect(await namesIn(folder)).toEqual(['a.txt', 'b.txt'])
  })

  it('with a body that is none: 400 / 104000', async () => {
    expectError(await restore(`${own}/onto`, { replace: 'yes' }), 400, 104000)
    expectError(await restore(`${own}/onto`, { unknown: 1 }), 400, 104000)
  })
})
