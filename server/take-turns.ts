import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Begins a request when the answer before it on the same connection has gone out. `begin` must end the response, or destroy it. */
export type Turns = (response: ServerResponse, begin: () => void) => void

interface Waiting {
  readonly response: ServerResponse
  readonly begin: () => void
}

/**
 * Callers may send many requests without waiting for answers. They are answered in their order, so begun in their order, too: a thousand
 * of them at once would cost a thousand answers' memory. While some wait, nothing more is read from the connection.
 */
export const createTurns = (): Turns => {
  const queues = new WeakMap<Socket, Waiting[]>()

  const beginNext = (socket: Socket, queue: Waiting[]): void => {
    const next = queue[0]
    if (!next) {
      queues.delete(socket)
      return
    }
    // The last answer may have ended the connection.
    if (!socket.writable) return
    next.response.once('close', () => {
      queue.shift()
      beginNext(socket, queue)
    })
    if (queue.length === 1) socket.resume()
    next.begin()
  }

  return (response, begin) => {
    const { socket } = response.req
    const queue = queues.get(socket)
    if (!queue) {
      const own: Waiting[] = [{ response, begin }]
      queues.set(socket, own)
      beginNext(socket, own)
      return
    }
    queue.push({ response, begin })
    // Behind the parser's back: as long as it is at work it reads on by itself.
    if (queue.length === 2) queueMicrotask(() => queue.length > 1 && socket.pause())
  }
}
