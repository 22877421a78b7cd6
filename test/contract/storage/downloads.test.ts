import { expect, it } from 'vitest'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'
import { send } from '../../support/gateway.ts'
import { openStorage } from './service.ts'

it('a file that no answer can carry is somewhere else, for this moment only', async () => {
  const storage = await openStorage()
  try {
    await storage.put('/large', 'too much')
    const downloads = { largestAnswer: 7, urlOf: async ({ key }: ObjectInfo) => `https://bucket.test/${key}?signed` }
    const token = newToken()
    const grant = { hash: hashToken(token), user: 'test', sites: [storage.site], permissions: ['files' as const] }
    const findGrant = async () => ({ ...grant, expires: Date.now() })
    const edge = { ...storage.deps.edge, findGrant }
    const headers = { Authorization: token, Accept: '*/*' }
    const handler = createStorageHandler({ ...storage.deps, downloads, edge })
    const answer = await send(handler, 'GET', '/api/v2/admin/sites/current/storage/large', {
      headers,
      remaining: 1_000,
    })
    expect(answer.status).toBe(302)
    expect(answer.headers['location']).toMatch(/^https:\/\/bucket\.test\/.*large\?signed$/)
    expect(answer.headers['cache-control']).toBe('no-store')
    // Without an Accept, even a small one would be there.
    expect(answer.headers['vary']).toBe('Accept')
  } finally {
    await storage.close()
  }
})

it('a file that the caller has already keeps the type that he knows: caches take over what a 304 says', async () => {
  const storage = await openStorage()
  try {
    await storage.put('/picture.png', 'bytes')
    for (const [accept, type] of [
      ['*/*', 'application/octet-stream'],
      ['image/*', 'image/png'],
    ] as const) {
      const { headers } = await storage.get('/picture.png', {}, { accept })
      const known = { accept, 'if-none-match': headers['etag'] ?? '' }
      const again = await storage.get('/picture.png', {}, known)
      expect([again.status, again.headers['content-type']]).toEqual([304, type])
    }
  } finally {
    await storage.close()
  }
})
