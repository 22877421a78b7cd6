import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import { formHeaders, multipart } from '../../../support/multipart.ts'
import { storage } from '../../../support/paths.ts'
import { requestText } from '../../../support/raw-http.ts'
import { test } from '../../../support/test.ts'

const formType = formHeaders['Content-Type']
const form = (size: number) => multipart(['a', 'b'].map((name) => ({ name, content: 'x'.repeat(size) }))).toString()

const blobsIn = (directory: string): string[] => readdirSync(join(directory, 'blobs'))

const size = 4_000_000
const uploads = {
  'in a form': { method: 'POST', target: `${storage}/new/folder`, type: formType, body: form(size), files: 2 },
  'of bytes': { method: 'PUT', target: `${storage}/new/file`, type: 'text/plain', body: 'x'.repeat(size), files: 1 },
}
const ways: Record<string, (socket: Socket) => void> = {
  'by a reset': (socket) => socket.resetAndDestroy(),
  'by closing': (socket) => socket.destroy(),
}

for (const [kind, { method, target, type, body, files }] of Object.entries(uploads)) {
  for (const [way, goAway] of Object.entries(ways)) {
    test(`an upload ${kind} that ends ${way} stores nothing, and can be repeated`, async ({ start, directory }) => {
      const service = await start()
      const { hostname, port } = new URL(service.baseUrl)
      const headers = { Authorization: service.token, 'Content-Type': type }
      const whole = requestText(method, target, { ...headers, 'Content-Length': body.length }, body)
      for (const missing of [0.9, 0.5, 0.1]) {
        // The service keeps the bytes of files that an earlier round removed.
        const before = blobsIn(directory)
        const socket = connect(Number(port), hostname)
        await once(socket, 'connect')
        await new Promise((resolve) => socket.write(whole.slice(0, -Math.round(body.length * missing)), resolve))
        // The service has stored the beginning of the upload.
        await expect.poll(() => blobsIn(directory)).not.toEqual(before)
        goAway(socket)

        await expect.poll(() => blobsIn(directory)).toEqual(before)
        expect((await service.request(`${storage}/new?meta`)).status).toBe(404)
        expect((await service.request(target, { method, headers, body })).status).toBe(200)
        expect(blobsIn(directory)).toHaveLength(before.length + files)
        expect((await service.request(`${storage}/new`, { method: 'DELETE' })).status).toBe(200)
      }
      const { stderr } = await service.stop()
      expect(stderr).not.toMatch(/Error|could not| 5\d\d (?!ms)/)
    })
  }
}
