import { expect, it } from 'vitest'
import { createStorageHandler } from '../../../functions/storage/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'
import { requestOf } from '../../support/gateway.ts'
import { openStorage } from './service.ts'

it('a file that no answer can carry is somewhere else, for this moment only', async () => {
  const storage = await openStorage()
  try {
    await storage.call('PUT', '/large', { body: 'too much' })
    const downloads = { largestAnswer: 7, urlOf: async ({ key }: ObjectInfo) => `https://bucket.test/${key}?signed` }
    const token = newToken()
    const grant = { hash: hashToken(token), user: 'test', sites: [storage.site], permissions: ['files' as const] }
    const findGrant = async () => ({ ...grant, expires: Date.now() })
    const edge = { ...storage.deps.edge, findGrant }
    const headers = { Authorization: token, Accept: '*/*' }
    const request = requestOf('GET', '/api/v2/admin/sites/current/storage/large', { headers })
    const answer = await createStorageHandler({ ...storage.deps, downloads, edge })(request, () => 1_000)
    expect(answer.status).toBe(302)
    expect(answer.headers['Location']).toMatch(/^https:\/\/bucket\.test\/.*large\?signed$/)
    expect(answer.headers['Cache-Control']).toBe('no-store')
    // Without an Accept, even a small one would be there.
    expect(answer.headers['Vary']).toBe('Accept')
  } finally {
    await storage.close()
  }
})

it('a file that the caller has already keeps the type that he knows: caches take over what a 304 says', async () => {
  const storage = await openStorage()
  try {
    await storage.call('PUT', '/picture.png', { body: 'bytes' })
    for (const [accept, type] of [
      ['*/*', 'application/octet-stream'],
      ['image/*', 'image/png'],
    ] as const) {
      const { headers } = await storage.call('GET', '/picture.png', { headers: { accept } })
      const known = { accept, 'if-none-match': headers['ETag'] ?? '' }
      const again = await storage.call('GET', '/picture.png', { headers: known })
      expect([again.statusCode, again.headers['Content-Type']]).toEqual([304, type])
    }
  } finally {
    await storage.close()
  }
})
