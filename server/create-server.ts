import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { catchAllGroup, prefixes } from '../lib/contract/routes/routes.ts'
import { type Deadline, unlimited } from '../lib/core/deadline.ts'
import type { Handler } from '../lib/http/request.ts'
import { createServer as createHttpServer } from './node-http.ts'
import { namesHost, readRequest } from './read-request.ts'
import { refuseConnection, refuseExpectation, refuseMalformed, refuseStranger, refuseTunnel } from './refuse.ts'
import { atOnce, type EarlyAnswers, sendOn } from './send-answer.ts'
import { type WaitingAnswers, waitingInProcess } from './waiting-answers.ts'

// Starts a request after the previous answer on the same connection. `begin` must end or destroy the response.
type Turns = (response: ServerResponse, begin: () => void) => void

interface Waiting {
  readonly response: ServerResponse
  readonly begin: () => void
}

// Pipelined requests run one after the other: a thousand at once would need the memory of a thousand answers. While
// some wait, the connection is not read.
const createTurns = (): Turns => {
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
    // Later, because the parser resumes the socket while it works.
    if (queue.length === 2) queueMicrotask(() => queue.length > 1 && socket.pause())
  }
}

type Group = (typeof prefixes)[number]['group']

/** The handler for a path, chosen like the function behind the gateway. */
export const dispatch =
  (handlers: Readonly<Record<Group, Handler>>) =>
  (path: string): Handler => {
    const found = prefixes.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
    return handlers[found?.group ?? catchAllGroup]
  }

// Milliseconds.
const longestSilence = 120_000

const complaintInterval = 1_000

// Sends 100 Continue when the body is first read, so never if an error comes first.
const bodyAfterLeave = (request: IncomingMessage, response: ServerResponse): Readable =>
  Readable.from(
    (async function* () {
      response.writeContinue()
      yield* request
    })(),
    { objectMode: false },
  )

// A listening server survives a lack of file descriptors: callers try again.
const surviveShortage = (server: Server): void => {
  let complained = Number.NEGATIVE_INFINITY
  server.on('listening', () => {
    server.on('error', (error) => {
      if (performance.now() - complained < complaintInterval) return
      complained = performance.now()
      console.error('A connection could not be taken:', error)
    })
  })
}

export interface Front {
  // Refuses requests from another origin, before it reads anything else.
  readonly admits?: (message: IncomingMessage) => boolean
  // The deadline of a new request.
  readonly deadlineFor?: (message: IncomingMessage) => Deadline
  readonly earlyAnswers?: EarlyAnswers
  readonly waiting?: WaitingAnswers
}

/** A server that does not listen yet. `handlerFor` gets the percent-encoded path without the query. */
export const createServer = (
  handlerFor: (path: string) => Handler,
  { admits = () => true, deadlineFor = () => unlimited, earlyAnswers = atOnce, waiting = waitingInProcess }: Front = {},
): Server => {
  const inTurn = createTurns()

  const serve = async (
    message: IncomingMessage,
    response: ServerResponse,
    body: Readable,
    isWaiting: () => boolean,
  ) => {
    try {
      const request = readRequest(message, body)
      const send = sendOn(message, response, isWaiting, earlyAnswers, waiting)
      await handlerFor(request.path)(request, deadlineFor(message), send)
    } catch (error) {
      console.error('A request could not be answered:', error)
      response.destroy()
    }
  }

  const accept = (
    message: IncomingMessage,
    response: ServerResponse,
    body: Readable,
    isWaiting: () => boolean,
  ): void => {
    if (!admits(message)) refuseStranger(message, response)
    else if (namesHost(message)) inTurn(response, () => void serve(message, response, body, isWaiting))
    else refuseMalformed(response)
  }

  // Node's own answer to a request without Host has no body.
  const server = createHttpServer({ requireHostHeader: false }, (message, response) => {
    accept(message, response, message, () => false)
  })
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    const body = bodyAfterLeave(message, response)
    // The caller sends its body only after the first read.
    accept(message, response, body, () => !body.readableDidRead)
  })
  server.on('checkExpectation', (_message: IncomingMessage, response: ServerResponse) => refuseExpectation(response))
  server.on('clientError', refuseConnection)
  server.on('connect', (_message, socket) => refuseTunnel(socket))
  surviveShortage(server)
  // A large upload over a slow line may take long. Only idle time is limited.
  server.requestTimeout = 0
  server.setTimeout(longestSilence)
  // Their bytes are limited, not their number.
  server.maxHeadersCount = 0
  return server
}
