import { expect, test } from 'vitest'
import { tables } from '../../../lib/config/tables.ts'

test('the directory is the same in every data centre, and everything else belongs to one', () => {
  const everywhere = Object.entries(tables).filter(([, { global }]) => global)
  expect(everywhere.map(([name]) => name)).toEqual(['sites', 'tokens'])
})

test('items that are kept for a time have an expiry', () => {
  const expiring = Object.entries(tables).filter(([, table]) => 'timeToLive' in table)
  expect(expiring.map(([name]) => name)).toEqual(['tokens', 'pathLocks', 'journal', 'uploads'])
})
