import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTusClients, type TusClients } from '../../support/tus-clients.ts'
import { call, deployment, storage } from '../support/deployment.ts'

/** What one request through the gateway carries of an upload, as clients are told to cut it. */
const chunkSize = 4_000_000
const size = 18_000_000

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex')

describe('a client that is killed in the middle of an upload through the gateway goes on, and nothing is lost', () => {
  let opened: TusClients
  beforeAll(async () => {
    opened = await openTusClients()
  })
  afterAll(() => opened.close())

  it.each(['tus-js-client in Node', 'tuspy', 'tus-js-client in a browser', 'Uppy in a browser'])(
    '%s',
    async (client) => {
      const name = `${client.replaceAll(' ', '-')}.bin`
      const content = randomBytes(size)
      const endpoint = `${deployment.baseUrl}${storage}/tus`
      const upload = opened.clients[client]
      const wanted = { endpoint, token: deployment.token, name, content, chunkSize, dieAt: 2 * chunkSize + 1 }
      const goesOnAt = await upload?.(wanted)
      expect(goesOnAt).toBeGreaterThanOrEqual(chunkSize)
      expect(goesOnAt).toBeLessThan(size)
      const { status, headers, body } = await call(`/tus/${name}`, { headers: { Accept: '*/*' } })
      const bytes = status === 302 ? Buffer.from(await (await fetch(String(headers['location']))).arrayBuffer()) : body
      expect(md5(bytes)).toBe(md5(content))
    },
  )
})
