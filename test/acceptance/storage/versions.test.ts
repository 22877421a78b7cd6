import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { ownFolder, put, read, versionsOf } from '../support/storage.ts'

const own = ownFolder()

const shapesOf = async (path: string) =>
  (await versionsOf(path)).map(({ size, removed, current }) => [
    size,
    current ? 'current' : removed ? 'removed' : 'replaced',
  ])

describe('Versions', () => {
  it('Versions are what a file is and was, each is read (H-15, H-16)', async () => {
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

  it('Versions come in pages (H-18)', async () => {
    const path = `${own}/versions/paged.txt`
    for (const text of ['1', '22', '333']) await put(path, text)
    const first = (await read(path, '?versions&limit=2')).json
    const rest = (await read(path, `?versions&limit=2&cursor=${encodeURIComponent(first.cursor)}`)).json
    expect([...first.versions, ...rest.versions].map(({ size }) => size)).toEqual([3, 2, 1])
  })

  it('A version of another file answers 404/104001 (H-16)', async () => {
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
  ])('The query %s is refused with 104000 (H-18)', async (query) => {
    await put(`${own}/versions/asked/a.txt`, 'asked')
    const path = query.startsWith('?versions') ? 'asked/a.txt' : 'asked'
    expectError(await read(`${own}/versions/${path}`, query), 400, 104000)
  })
})
