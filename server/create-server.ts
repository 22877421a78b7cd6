import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Handler } from '../lib/http/request.ts'
import { namesHost, readRequest } from './read-request.ts'
import { refuseConnection, refuseExpectation, refuseMalformed, refuseTunnel } from './refuse.ts'
import { sendOn } from './send-answer.ts'
import { createTurns } from './take-turns.ts'

/** How long nothing may pass on a connection that is in use, in milliseconds. */
const longestSilence = 120_000

/** How often it is told that connections cannot be taken, in milliseconds. */
const complaintInterval = 1_000

/** A caller that waits for leave to send its body gets it when the body is first read: not at all when an error comes first. */
const bodyAfterLeave = (request: IncomingMessage, response: ServerResponse): Readable =>
  Readable.from(
    (async function* () {
      response.writeContinue()
      yield* request
    })(),
    { objectMode: false },
  )

const unlimited = () => Number.POSITIVE_INFINITY

/** A server that listens lives on when the system has no more handles for connections: the callers come again. */
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

/** A server over the core, not listening yet. `handlerFor` names the handler for a path, which is percent-encoded and without the query. */
export const createServer = (handlerFor: (path: string) => Handler): Server => {
  const inTurn = createTurns()

  const serve = async (message: IncomingMessage, response: ServerResponse, body: Readable, waits: () => boolean) => {
    try {
      const request = readRequest(message, body)
      await handlerFor(request.path)(request, unlimited, sendOn(message, response, waits))
    } catch (error) {
      console.error('A request could not be answered:', error)
      response.destroy()
    }
  }

  const take = (message: IncomingMessage, response: ServerResponse, body: Readable, waits: () => boolean): void => {
    if (namesHost(message)) inTurn(response, () => void serve(message, response, body, waits))
    else refuseMalformed(response)
  }

  // Node's own answer to a request without Host has no body.
  const server = createHttpServer({ requireHostHeader: false }, (message, response) => {
    take(message, response, message, () => false)
  })
  server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    const body = bodyAfterLeave(message, response)
    // As long as nothing has read from it, the caller holds its body back.
    take(message, response, body, () => !body.readableDidRead)
  })
  server.on('checkExpectation', (_message: IncomingMessage, response: ServerResponse) => refuseExpectation(response))
  server.on('clientError', refuseConnection)
  server.on('connect', (_message, socket) => refuseTunnel(socket))
  surviveShortage(server)
  // A large upload over a slow line may take long; what may not is a silence.
  server.requestTimeout = 0
  server.setTimeout(longestSilence)
  // Their bytes are limited: no header is left out because there are many.
  server.maxHeadersCount = 0
  return server
}
