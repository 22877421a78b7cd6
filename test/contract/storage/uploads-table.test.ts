import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUploadsTable, type UploadsTable } from '../../../lib/storage/uploads-table.ts'
import { openTestTables, type TestTables } from '../../support/tables.ts'

describe('the Uploads table', () => {
  let tables: TestTables
  let uploads: UploadsTable
  let now = Date.UTC(2026, 0, 1)
  beforeAll(async () => {
    tables = await openTestTables()
    uploads = createUploadsTable(tables.connect(), tables.names.uploads, () => now)
  })
  afterAll(() => tables.close())

  it('knows 0 % of a token that has never uploaded', async () => {
    expect(await uploads.percentOf('never')).toBe(0)
  })

  it('tells the newest upload, whatever comes late from an older one', async () => {
    const older = { token: 'a', id: 'x', started: 1 }
    const newer = { token: 'a', id: 'b', started: 2 }
    await uploads.begin(older)
    await uploads.report(older, 40)
    await uploads.begin(newer)
    await uploads.report(older, 100)
    expect(await uploads.percentOf('a')).toBe(0)
    await uploads.report(newer, 7)
    await uploads.begin(older)
    expect(await uploads.percentOf('a')).toBe(7)
  })

  it('never falls within one upload', async () => {
    const upload = { token: 'b', id: 'x', started: 1 }
    await uploads.begin(upload)
    await uploads.report(upload, 50)
    await uploads.report(upload, 20)
    expect(await uploads.percentOf('b')).toBe(50)
  })

  it('decides between two that began at the same moment', async () => {
    const [one, two] = ['1', '2'].map((id) => ({ token: 'c', id, started: 1 }))
    if (!one || !two) throw new Error('There are two')
    await uploads.begin(two)
    await uploads.begin(one)
    await uploads.report(one, 90)
    await uploads.report(two, 10)
    expect(await uploads.percentOf('c')).toBe(10)
  })

  it('forgets after a day', async () => {
    const upload = { token: 'd', id: 'x', started: 1 }
    await uploads.begin(upload)
    await uploads.report(upload, 100)
    now += 25 * 3600 * 1000
    expect(await uploads.percentOf('d')).toBe(0)
  })
})
