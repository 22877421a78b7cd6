import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { requestText } from '../../support/raw-http.ts'

/** A caller that reads nothing of the answer. `served` is the server's side of the connection. */
export const slowReader = async (server: Server) => {
  const taken = once(server, 'connection') as Promise<[Socket]>
  const asked = once(server, 'request')
  const address = server.address()
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  const [served] = await taken
  socket.write(requestText('GET', '/', { Connection: 'close' }))
  await asked
  const chunks: AsyncIterator<Buffer> = socket[Symbol.asyncIterator]()
  const received: Buffer[] = []
  const read = async (): Promise<boolean> => {
    const { value, done } = await chunks.next()
    if (!done) received.push(value)
    return !done
  }
  return {
    served,
    leaves: () => void socket.destroy(),
    /** Waits until the service cannot write anything more. */
    async stalls() {
      for (let before = -1; before !== served.bytesWritten || served.writableLength === 0; ) {
        before = served.bytesWritten
        for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
      }
    },
    /** Reads until the service has been able to write more. */
    async readsSome() {
      for (const before = served.bytesWritten; served.bytesWritten === before; ) await read()
    },
    async readsAll(): Promise<string> {
      while (await read());
      return Buffer.concat(received).toString('latin1')
    },
  }
}
