import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Grant, hashToken, newToken } from '../../../lib/access/token.ts'
import { createTokensTable, type TokensTable } from '../../../lib/access/tokens-table.ts'
import type { SiteId } from '../../../lib/ids.ts'
import { openTestTables, type TestTables } from '../../support/tables.ts'

let tables: TestTables
let tokens: TokensTable

beforeAll(async () => {
  tables = await openTestTables()
  tokens = createTokensTable(tables.connect(), tables.names.tokens)
})
afterAll(() => tables.close())

const grant = (details: Partial<Grant> = {}): Grant => ({
  hash: hashToken(newToken()),
  user: 'ann',
  sites: [1001 as SiteId],
  permissions: [],
  expires: 1_900_000_000,
  ...details,
})

describe('the grants of tokens', () => {
  test.each([
    ['of one site', {}],
    ['of several sites', { sites: [1001, 1002] as SiteId[] }],
    ['of no site', { sites: [] }],
    ['with a permission', { permissions: ['files'] as const }],
  ])('%s come back as they were put', async (_, details) => {
    const stored = grant(details)
    await tokens.put(stored)
    expect(await tokens.get(stored.hash)).toEqual(stored)
  })

  test('are not found under another hash', async () => {
    expect(await tokens.get(hashToken(newToken()))).toBeUndefined()
  })

  test('are gone once removed, and removing tells whether they were there', async () => {
    const stored = grant()
    await tokens.put(stored)
    expect(await tokens.remove(stored.hash)).toBe(true)
    expect(await tokens.get(stored.hash)).toBeUndefined()
    expect(await tokens.remove(stored.hash)).toBe(false)
  })

  test('are all listed', async () => {
    const own = await openTestTables()
    try {
      const table = createTokensTable(own.connect(), own.names.tokens)
      const stored = [grant(), grant({ user: 'bob' })]
      for (const each of stored) await table.put(each)
      const listed: Grant[] = []
      for await (const each of table.list()) listed.push(each)
      expect(listed.toSorted((a, b) => (a.user < b.user ? -1 : 1))).toEqual(stored)
    } finally {
      await own.close()
    }
  })
})
