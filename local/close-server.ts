import { once } from 'node:events'
import type { Server } from 'node:http'

/** How long requests in flight may take, in milliseconds. */
const patience = 10_000
const sweepInterval = 50

/** Takes no more connections, lets requests in flight be answered, and ends. */
export const closeServer = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  // Connections that were busy when the server closed become idle later, and nobody else would end them.
  const sweep = setInterval(() => server.closeIdleConnections(), sweepInterval)
  const end = setTimeout(() => server.closeAllConnections(), patience)
  await closed
  clearInterval(sweep)
  clearTimeout(end)
}
