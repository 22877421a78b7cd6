import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const sweepInterval = 50

export type Closing = { readonly waitingFor: number } | { readonly cutOff: number }

export type Close = (report?: (closing: Closing) => void) => Promise<void>

/** Call this before the server listens. `timeout` is in milliseconds. */
export const closerOf = (server: Server, timeout = 10_000): Close => {
  const connections = new Map<Socket, Set<ServerResponse>>()
  const track = (socket: Socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  }
  // Over TLS, requests arrive on another socket than the first one, after the handshake.
  server.on('connection', track).on('secureConnection', track)
  const owe = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const owed = connections.get(socket)
    owed?.add(response)
    response.once('close', () => owed?.delete(response))
  }
  server.prependListener('request', owe)
  // A listener for `checkContinue` must itself answer 100, so this adds one only if the server already has one.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', owe)

  const inFlight = () => [...connections.values()].reduce((sum, owed) => sum + owed.size, 0)

  const closeIdle = () => {
    // Connections that were busy when the server closed become idle later. This ends them, too. Node does not count a
    // connection as idle before its first request, and browsers open such connections in advance.
    server.closeIdleConnections()
    for (const connection of connections.keys()) if (connection.bytesRead === 0) connection.destroy()
  }

  return async (report = () => {}) => {
    const closed = once(server, 'close')
    server.close()
    const waitingFor = inFlight()
    if (waitingFor > 0) report({ waitingFor })
    const sweep = setInterval(closeIdle, sweepInterval)
    const end = setTimeout(() => {
      const cutOff = inFlight()
      for (const connection of connections.keys()) connection.destroy()
      if (cutOff > 0) report({ cutOff })
    }, timeout)
    await closed
    clearInterval(sweep)
    clearTimeout(end)
  }
}
