import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long requests in flight may take, in milliseconds. */
const patience = 10_000
const sweepInterval = 50

/** Closing servers, step by step. */
export interface Closing {
  /** How many requests are being answered. */
  inFlight(): number
  /**
   * Takes no more connections, lets requests in flight be answered, for ten seconds, and ends. Answers how many requests were cut off.
   */
  close(): Promise<number>
}

/** How to close a server that does not listen yet. */
export const closingOf = (server: Server): Closing => {
  const connections = new Set<Socket>()
  const answers = new Set<ServerResponse>()
  const note = (_request: unknown, response: ServerResponse) => {
    answers.add(response)
    response.once('close', () => answers.delete(response))
  }
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', note).prependListener('checkContinue', note)

  const closeIdle = () => {
    // Connections that were busy when the server closed become idle later, and nobody else would end them.
    server.closeIdleConnections()
    // One on which nothing was ever asked, as browsers open them in advance, does not count as idle there.
    for (const connection of connections) if (connection.bytesRead === 0) connection.destroy()
  }

  return {
    inFlight: () => answers.size,

    async close() {
      let cutOff = 0
      const closed = once(server, 'close')
      server.close()
      const sweep = setInterval(closeIdle, sweepInterval)
      const end = setTimeout(() => {
        cutOff = answers.size
        server.closeAllConnections()
      }, patience)
      await closed
      clearInterval(sweep)
      clearTimeout(end)
      return cutOff
    },
  }
}

/** How to close a server that does not listen yet, in one step. */
export const closerOf = (server: Server): (() => Promise<void>) => {
  const { close } = closingOf(server)
  return async () => void (await close())
}
