import { expect, test } from 'vitest'
import { addIssuer, addRule, type Rule, removeRule } from '../../../lib/access/issuers/issuers.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { beforeCalls, loseAnswer } from '../../support/store-faults.ts'
import { openTableStores } from '../../support/tables.ts'

const site = 1001 as SiteId
const issuer = { id: 'work', url: 'https://login.example.com', audience: 'site-admin' }
const rule: Rule = {
  id: '1',
  issuer: 'work',
  claims: { team: 'web' },
  site,
  grants: { rights: ['files:read'], ttl: 900 },
}

test('A change of the rules whose write loses its answer is made and recorded once', async () => {
  const tables = openMemoryTables()
  const { issuers, history } = openTableStores(tables.names, { dynamodb: tables.connect() })
  await issuers.changeTrust((trust) => addIssuer(trust, issuer), [])
  const client = tables.connect()
  const answers = loseAnswer(client, 'PutItemCommand')
  const entry = { site, type: 'rule.created', subject: 'rule/1', actor: 'ann' } as const
  await openTableStores(tables.names, { dynamodb: client }).issuers.changeTrust(
    (trust) => addRule(trust, rule),
    [entry],
  )
  expect(answers.lost).toBe(1)
  expect((await issuers.trust()).rules).toEqual([rule])
  expect(await history.after(site, 0, 10)).toMatchObject([entry])
  await issuers.changeTrust((trust) => removeRule(trust, rule.id), [])
  expect((await issuers.trust()).rules).toEqual([])
})

test('A change of the rules that another change overtakes each time fails with 100503', async () => {
  const tables = openMemoryTables()
  const { issuers } = openTableStores(tables.names, { dynamodb: tables.connect() })
  const client = tables.connect()
  beforeCalls(client, 'PutItemCommand', () => issuers.changeTrust((trust) => trust, []))
  const overtaken = openTableStores(tables.names, { dynamodb: client }).issuers
  const change = overtaken.changeTrust((trust) => addIssuer(trust, issuer), [])
  await expect(change).rejects.toMatchObject({ code: 100503 })
  expect((await issuers.trust()).issuers).toEqual([])
})
