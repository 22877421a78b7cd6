import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import { groupAt, type prefixes } from '../lib/contract/routes/routes.ts'
import { type Deadline, unlimited } from '../lib/core/time.ts'
import type { Handler } from '../lib/http/request.ts'
import { namesHost, readRequest } from './read-request.ts'
import { refuse, refuseConnection, refuseStranger, refuseTunnel } from './refuse.ts'
import { atOnce, type EarlyAnswers, type Exchange, sendAnswer } from './send-answer.ts'
import { type SlowestBody, type WaitingAnswers, waitingInProcess, watchBody } from './slow-callers.ts'

// Importing `node:http` by name would also load WebSocket and undici, which costs 40 ms of every start.
const { createServer: createHttpServer } = process.getBuiltinModule('node:http')

interface QueuedRequest {
  readonly response: ServerResponse
  readonly begin: () => void
}

// Starts each request after the answer to the previous request on the same connection. Otherwise a thousand pipelined
// requests would need memory for a thousand answers. While requests wait, nothing is read from the connection. `begin`
// must end or destroy the response.
const createRequestQueues = () => {
  const queues = new WeakMap<Duplex, QueuedRequest[]>()
  const refused = new WeakSet<Duplex>()

  const beginNext = (socket: Socket, queue: QueuedRequest[]): void => {
    const next = queue[0]
    if (!next || !socket.writable) return
    next.response.once('close', () => {
      queue.shift()
      beginNext(socket, queue)
    })
    if (queue.length === 1) socket.resume()
    next.begin()
  }

  const inTurn = (response: ServerResponse, begin: () => void): void => {
    const { socket } = response.req
    const queue = queues.get(socket) ?? []
    queues.set(socket, queue)
    queue.push({ response, begin })
    if (queue.length === 1) beginNext(socket, queue)
    // Pauses in a microtask. A pause before that would have no effect, because the parser resumes the socket when it
    // has read its data.
    else if (queue.length === 2) queueMicrotask(() => queue.length > 1 && socket.pause())
  }

  /** Refuses what follows on a connection, after the answers to its complete requests. */
  const refuseNext = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const queue = queues.get(socket) ?? []
    const owed = queue.findLast(({ response }) => response.req.complete)
    if (!owed) refuseConnection(error, socket, queue[0]?.response.headersSent)
    else if (!refused.has(socket)) owed.response.once('close', () => socket.writable && refuseConnection(error, socket))
    refused.add(socket)
  }

  const endIfLeft = (socket: Duplex): void => {
    const queue = queues.get(socket) ?? []
    if (queue.every(({ response }) => response.req.method === 'GET')) socket.end()
  }

  return { inTurn, refuseNext, endIfLeft }
}

export const dispatch =
  (handlers: Readonly<Record<(typeof prefixes)[number]['group'], Handler>>) =>
  (path: string): Handler =>
    handlers[groupAt(path)]

// Sends 100 Continue when an operation first reads the body, so never before an early error. A reader that stops early
// removes its listeners, and then an error without a listener would end the process.
const bodyAfterContinue = (request: IncomingMessage, response: ServerResponse): Readable =>
  Readable.from(
    (async function* () {
      response.writeContinue()
      yield* request
    })(),
    { objectMode: false },
  ).on('error', () => {})

const complaintInterval = 1_000

export const surviveShortage = (server: Server): void => {
  let complained = Number.NEGATIVE_INFINITY
  server.on('listening', () => {
    server.on('error', (error) => {
      if (performance.now() - complained < complaintInterval) return
      complained = performance.now()
      console.error('A connection could not be accepted:', error)
    })
  })
}

export interface Front {
  readonly admits?: (message: IncomingMessage) => boolean
  readonly deadlineFor?: (message: IncomingMessage) => Deadline
  readonly earlyAnswers?: EarlyAnswers
  readonly waiting?: WaitingAnswers
  readonly slowestBody?: SlowestBody
  readonly addressOf?: (message: IncomingMessage) => string | undefined
}

const answerOn = <Kind extends Server>(
  server: Kind,
  handlerFor: (path: string) => Handler,
  {
    admits = () => true,
    deadlineFor = () => unlimited,
    earlyAnswers = atOnce,
    waiting = waitingInProcess,
    slowestBody,
    addressOf = () => undefined,
  }: Front,
): Kind => {
  const { inTurn, refuseNext, endIfLeft } = createRequestQueues()

  const serve = async (exchange: Exchange, body: Readable): Promise<void> => {
    const { req: message } = exchange.response
    if (slowestBody && !message.complete) watchBody(message, exchange.isWaiting, slowestBody)
    try {
      const request = readRequest(message, body, addressOf(message))
      const handled = await handlerFor(request.path)(request, deadlineFor(message))
      await sendAnswer(handled, exchange, earlyAnswers, waiting)
    } catch (error) {
      console.error('A request could not be answered:', error)
      exchange.response.destroy()
    }
  }

  const accept = (exchange: Exchange, body: Readable): void => {
    const { response } = exchange
    inTurn(response, () => {
      if (!admits(response.req)) refuseStranger(response)
      else if (namesHost(response.req)) void serve(exchange, body)
      else refuse(response, 'malformed')
    })
  }

  server.on('request', (request, response) => accept({ response, isWaiting: () => false }, request))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const body = bodyAfterContinue(request, response)
    accept({ response, isWaiting: () => !body.readableDidRead }, body)
  })
  server.on('checkExpectation', (_: IncomingMessage, response: ServerResponse) => {
    inTurn(response, () => refuse(response, 'expectation'))
  })
  server.on('clientError', refuseNext)
  server.on('connect', (_message, socket) => refuseTunnel(socket))
  surviveShortage(server)
  // A large upload over a slow line may take long, but a silent connection may not. The bytes of the headers are
  // limited, not their number. Caddy keeps an idle connection for 120 s, other proxies for 60 to 90 s (O-24). When
  // callers end their side of a connection, they still get their answers. If only GETs wait, they count as gone.
  server.requestTimeout = 0
  server.setTimeout(120_000)
  server.keepAliveTimeout = 125_000
  server.maxHeadersCount = 0
  const keepHalfOpen = (socket: Socket) => {
    socket.allowHalfOpen = true
    socket.on('end', () => endIfLeft(socket))
  }
  server.on('connection', keepHalfOpen).on('secureConnection', keepHalfOpen)
  return Object.assign(server, { httpAllowHalfOpen: true })
}

// Node's own answer to a request without Host has no body.
const options = { requireHostHeader: false }

/** A server that does not listen yet. `handlerFor` gets the percent-encoded path without the query. */
export const createServer = (handlerFor: (path: string) => Handler, front: Front = {}): Server =>
  answerOn(createHttpServer(options), handlerFor, front)

export const createSecureServer = (
  certificate: SecureContextOptions,
  handlerFor: (path: string) => Handler,
  front: Front = {},
): SecureServer => {
  const { createServer: createHttpsServer } = process.getBuiltinModule('node:https')
  return answerOn(createHttpsServer({ ...options, ...certificate }), handlerFor, front)
}

const sweepInterval = 50

export type Closing = { readonly waitingFor: number } | { readonly cutOff: number }

/** Call this before the server listens. `timeout` is in milliseconds. */
export const closerOf = (server: Server, timeout = 10_000) => {
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

  return async (report: (closing: Closing) => void = () => {}): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    const waitingFor = inFlight()
    if (waitingFor > 0) report({ waitingFor })
    using _sweep = setInterval(closeIdle, sweepInterval)
    using _end = setTimeout(() => {
      const cutOff = inFlight()
      for (const connection of connections.keys()) connection.destroy()
      if (cutOff > 0) report({ cutOff })
    }, timeout)
    await closed
  }
}
