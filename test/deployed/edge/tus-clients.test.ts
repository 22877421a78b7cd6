import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTusClients, type TusClients } from '../../support/tus-clients.ts'
import { call, deployment, storage } from '../support/deployment.ts'

/** The bytes per request that clients are advised to send through the gateway. */
const chunkSize = 4_000_000
const size = 18_000_000

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

describe('clients that are killed during an upload through the gateway', () => {
  let opened: TusClients
  beforeAll(async () => {
    opened = await openTusClients()
  })
  afterAll(() => opened.close())

  it.each(['tus-js-client in Node', 'tuspy', 'tus-js-client in a browser', 'Uppy in a browser'])(
    '%s continues its upload, and loses no bytes',
    async (client) => {
      const name = `${client.replaceAll(' ', '-')}.bin`
      const content = randomBytes(size)
      const endpoint = `${deployment.baseUrl}${storage}/tus`
      const upload = opened.clients[client]
      const wanted = { endpoint, token: deployment.token, name, content, chunkSize, dieAt: 2 * chunkSize + 1 }
      const resumedAt = await upload?.(wanted)
      expect(resumedAt).toBeGreaterThanOrEqual(chunkSize)
      expect(resumedAt).toBeLessThan(size)
      const { status, headers, body } = await call(`/tus/${name}`, { headers: { Accept: '*/*' } })
      const bytes = status === 302 ? Buffer.from(await (await fetch(String(headers['location']))).arrayBuffer()) : body
      expect(md5(bytes)).toBe(md5(content))
    },
  )
})
