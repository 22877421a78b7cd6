import { describe, expect, it } from 'vitest'
import type { Answer } from '../../support/answer.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, move, namesIn, ownFolder, put, read, remove, upload } from '../support/storage.ts'

const own = ownFolder()

const restore = (path: string, body: unknown = {}): Promise<Answer> =>
  call(at(path, '?restore'), { method: 'POST', body })

interface Version {
  readonly version: string
  readonly at: string
  readonly size: number
  readonly removed: boolean
  readonly current: boolean
}

const versionsOf = async (path: string): Promise<readonly Version[]> => (await read(path, '?versions')).json.versions
const shapesOf = async (path: string) =>
  (await versionsOf(path)).map(({ size, removed, current }) => [
    size,
    current ? 'current' : removed ? 'removed' : 'replaced',
  ])

describe('versions', () => {
  it('are what a file is and was, the newest first, and each is read', async () => {
    const path = `${own}/versions/a.txt`
    for (const text of ['1', '22', '333']) await put(path, text)
    expect(await shapesOf(path)).toEqual([
      [3, 'current'],
      [2, 'replaced'],
      [1, 'replaced'],
    ])
    const versions = await versionsOf(path)
    const texts = await Promise.all(
      versions.map(({ version }) => read(path, `?versionId=${encodeURIComponent(version)}`)),
    )
    expect(texts.map(({ text }) => text)).toEqual(['333', '22', '1'])
    expect(versions[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)
  })

  it('come in pages', async () => {
    const path = `${own}/versions/paged.txt`
    for (const text of ['1', '22', '333']) await put(path, text)
    const first = (await read(path, '?versions&limit=2')).json
    const rest = (await read(path, `?versions&limit=2&cursor=${encodeURIComponent(first.cursor)}`)).json
    expect([...first.versions, ...rest.versions].map(({ size }) => size)).toEqual([3, 2, 1])
  })

  it('of another file are not read here: 404 / 104001', async () => {
    await put(`${own}/versions/one.txt`, 'one')
    await put(`${own}/versions/two.txt`, 'two')
    const [two] = await versionsOf(`${own}/versions/two.txt`)
    const query = `?versionId=${encodeURIComponent(two?.version ?? '')}`
    expectError(await read(`${own}/versions/one.txt`, query), 404, 104001)
  })

  it.each([
    '?versions&limit=0',
    '?versions&limit=abc',
    '?versions&cursor=none',
    '?deleted&limit=-1',
    '?deleted&cursor=%00',
  ])('asked for by %s: 400 / 104000', async (query) => {
    await put(`${own}/versions/asked/a.txt`, 'asked')
    const path = query.startsWith('?versions') ? 'asked/a.txt' : 'asked'
    expectError(await read(`${own}/versions/${path}`, query), 400, 104000)
  })
})

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
