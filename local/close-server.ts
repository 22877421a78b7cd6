import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long requests in flight may take, in milliseconds. */
const patience = 10_000
const sweepInterval = 50

/**
 * How to close a server that does not listen yet: the function takes no more connections, lets requests in flight be
 * answered, and ends.
 */
export const closerOf = (server: Server): (() => Promise<void>) => {
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })

  const closeIdle = () => {
    // Connections that were busy when the server closed become idle later, and nobody else would end them.
    server.closeIdleConnections()
    // One on which nothing was ever asked, as browsers open them in advance, does not count as idle there.
    for (const connection of connections) if (connection.bytesRead === 0) connection.destroy()
  }

  return async () => {
    const closed = once(server, 'close')
    server.close()
    const sweep = setInterval(closeIdle, sweepInterval)
    const end = setTimeout(() => server.closeAllConnections(), patience)
    await closed
    clearInterval(sweep)
    clearTimeout(end)
  }
}
