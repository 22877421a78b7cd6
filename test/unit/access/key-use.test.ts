import { expect, test } from 'vitest'
import { hashToken, type Key, newToken } from '../../../lib/access/grants.ts'
import { createUseLog } from '../../../lib/access/keys.ts'
import type { SiteId } from '../../../lib/core/ids.ts'

const day = 24 * 3600 * 1000

test('The use of a key is stored once a day, and again after a failure (A-88)', async () => {
  let now = Date.UTC(2026, 0, 31)
  const stored: string[] = []
  const recordUse = async (_: Key, on: string) => {
    stored.push(on)
    if (stored.length === 1) throw new Error('The table is throttled')
  }
  const noteUse = createUseLog({ recordUse }, () => now)
  const key: Key = {
    hash: hashToken(newToken()),
    kind: 'key',
    user: 'ann',
    since: now,
    name: 'Backup',
    sites: [1 as SiteId],
    permissions: ['files:read'],
    expires: Date.UTC(2027, 0, 1) / 1000,
  }
  for (let use = 0; use < 4; use++) await noteUse(key)
  now += day
  await noteUse(key)
  expect(stored).toEqual(['2026-01-31', '2026-01-31', '2026-02-01'])
})
