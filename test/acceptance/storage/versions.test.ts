import { expect, it } from 'vitest'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, ownFolder, read, remove, restore, store, versionsOf } from '../support/storage.ts'

const own = ownFolder()

const shapesOf = async (path: string) =>
  (await versionsOf(path)).map(({ size, removed, current }) => [
    size,
    current ? 'current' : removed ? 'removed' : 'replaced',
  ])

it('All states of a file are listed, and can be read (H-15, H-16)', async () => {
  const path = `${own}/versions/a.txt`
  for (const text of ['1', '22', '333']) await store(path, text)
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
  await restore(path, { version: versions[2]?.version ?? '', replace: true })
  expect((await shapesOf(path)).slice(0, 2)).toEqual([
    [1, 'current'],
    [3, 'replaced'],
  ])
  await remove(path)
  expect((await shapesOf(path))[0]).toEqual([1, 'removed'])
})

it('A range of an old version can be read, with the tag of that version (H-16, S-70)', async () => {
  const path = `${own}/versions/parts.txt`
  for (const text of ['old', 'newer']) await store(path, text)
  const [, old] = await versionsOf(path)
  const readOld = (headers: Readonly<Record<string, string>>) =>
    call(at(path, `?versionId=${encodeURIComponent(old?.version ?? '')}`), { headers })
  const { headers } = await readOld({})
  expect(headers['etag']).not.toBe((await read(path)).headers['etag'])
  expect((await readOld({ 'If-None-Match': headers['etag'] ?? '' })).status).toBe(304)
  const part = await readOld({ Range: 'bytes=1-' })
  expect([part.status, part.text]).toEqual([206, 'ld'])
})

it('Only files have versions, and ?link of a version is refused (H-15, E-29, E-30)', async () => {
  const path = `${own}/versions/linked.txt`
  await store(path, 'x')
  const [present] = await versionsOf(path)
  expectError(await read(`${own}/versions/none`, '?versions'), 404, 104001)
  for (const folder of [`${own}/versions`, '']) expectError(await read(folder, '?versions'), 400, 104002)
  expectError(await read(path, `?link&versionId=${encodeURIComponent(present?.version ?? '')}`), 400, 104000)
})

it('Versions come in pages (H-18)', async () => {
  const path = `${own}/versions/paged.txt`
  for (const text of ['1', '22', '333']) await store(path, text)
  const first = (await read(path, '?versions&limit=2')).json
  const rest = (await read(path, `?versions&limit=2&cursor=${encodeURIComponent(first.cursor)}`)).json
  expect([first, rest].map(({ versions }) => versions.map(({ size }: { size: number }) => size))).toEqual([[3, 2], [1]])
  expect((await read(path, '?versions&limit=3')).json).not.toHaveProperty('cursor')
  await store(`${own}/versions/other.txt`, 'x')
  const query = `?versions&cursor=${encodeURIComponent(first.cursor)}`
  expectError(await read(`${own}/versions/other.txt`, query), 400, 104000)
})

it('The version id of another file is not found: 404/104001 (H-16)', async () => {
  await store(`${own}/versions/one.txt`, 'one')
  await store(`${own}/versions/two.txt`, 'two')
  const [two] = await versionsOf(`${own}/versions/two.txt`)
  for (const version of [two?.version ?? '', 'none', '../../etc', '\u0000', 'x'.repeat(1_024)]) {
    const query = `?versionId=${encodeURIComponent(version)}`
    expectError(await read(`${own}/versions/one.txt`, query), 404, 104001)
    expectError(await restore(`${own}/versions/one.txt`, { version, replace: true }), 404, 104001)
  }
  for (const version of ['', 'x'.repeat(1_025)]) {
    expectError(await read(`${own}/versions/one.txt`, `?versionId=${version}`), 400, 104000)
  }
})

it.each([
  ...['?versions&limit=0', '?versions&limit=abc', '?versions&cursor=none', '?deleted&limit=-1', '?deleted&cursor=%00'],
])('The query %s is refused with 104000 (H-18)', async (query) => {
  await store(`${own}/versions/asked/a.txt`, 'asked')
  const path = query.startsWith('?versions') ? 'asked/a.txt' : 'asked'
  expectError(await read(`${own}/versions/${path}`, query), 400, 104000)
})
