import { expect, test } from 'vitest'
import { addIssuer } from '../../../lib/access/issuers/issuers.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { beforeCalls } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

test('A change of the issuers that another change overtakes each time fails with 100503', async () => {
  const tables = openMemoryTables()
  const { issuers } = openTableStores(tables.names, { dynamodb: tables.connect() })
  const client = tables.connect()
  beforeCalls(client, 'PutItemCommand', () => issuers.changeTrust((trust) => trust, []))
  const overtaken = openTableStores(tables.names, { dynamodb: client }).issuers
  const issuer = { id: 'work', url: 'https://login.example.com', audience: 'site-admin' }
  const change = overtaken.changeTrust((trust) => addIssuer(trust, issuer), [])
  await expect(change).rejects.toMatchObject({ code: 100503 })
  expect((await issuers.trust()).issuers).toEqual([])
})
