import { expect, test } from 'vitest'
import { tables } from '../../../lib/config/tables.ts'

test('data centres share only the directory tables', () => {
  const everywhere = Object.entries(tables).filter(([, { global }]) => global)
  expect(everywhere.map(([name]) => name)).toEqual(['sites', 'tokens', 'users'])
})

test('tables of temporary items have a time to live', () => {
  const expiring = Object.entries(tables).filter(([, table]) => 'timeToLive' in table)
  expect(expiring.map(([name]) => name)).toEqual(['tokens', 'signIns', 'pathLocks', 'journal', 'webhooks', 'uploads'])
})
