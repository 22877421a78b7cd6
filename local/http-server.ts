import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import type { GatewayEvent, GatewayResult } from '../lib/http/gateway.ts'
import type { Handler } from '../lib/http/pipeline.ts'

/** What of a request body is read after an early answer, so that the caller sees the answer and not a broken connection. */
const lingerBytes = 16 * 1024 * 1024
const lingerMs = 2_000

const queryOf = (text: string): Record<string, string[]> => {
  const query = new URLSearchParams(text)
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]))
}

const headersOf = (request: IncomingMessage) => request.headersDistinct as Record<string, string[]>

/** The event that API Gateway would make of the request, but for the body, which stays a stream. */
const toEvent = (request: IncomingMessage, bodyStream: Readable): GatewayEvent => {
  const [, path = '/', query = ''] = /^(?:https?:\/\/[^/]+)?([^?]*)\??(.*)$/s.exec(request.url ?? '/') ?? []
  return {
    httpMethod: request.method ?? 'GET',
    path,
    multiValueHeaders: headersOf(request),
    multiValueQueryStringParameters: queryOf(query),
    body: null,
    isBase64Encoded: false,
    bodyStream,
    requestContext: { requestId: randomUUID() },
  }
}

/** A caller that waits for leave to send its body gets it when the body is first read: not at all when an error comes first. */
const bodyAfterLeave = (request: IncomingMessage, response: ServerResponse): Readable =>
  Readable.from(
    (async function* () {
      response.writeContinue()
      yield* request
    })(),
    { objectMode: false },
  )

const readAway = async (request: IncomingMessage): Promise<void> => {
  const timer = setTimeout(() => request.destroy(), lingerMs)
  let length = 0
  try {
    for await (const chunk of request) {
      length += chunk.length
      if (length > lingerBytes) return
    }
  } catch {
    // The caller has gone, or was too slow: its answer is written in either case.
  } finally {
    clearTimeout(timer)
  }
}

const answer = async (request: IncomingMessage, response: ServerResponse, result: GatewayResult, waits: boolean) => {
  const body = Buffer.from(result.body)
  const hasLength = result.statusCode !== 204 && result.statusCode !== 304
  const unread = !request.complete
  response.writeHead(result.statusCode, {
    ...result.headers,
    ...(hasLength && { 'Content-Length': body.length }),
    ...(unread && { Connection: 'close' }),
  })
  if (request.method !== 'HEAD') response.write(body)
  else response.flushHeaders()
  if (unread && !waits) await readAway(request)
  response.end()
}

/** What the HTTP parser itself refuses never becomes a request; it is answered here. */
const refuse = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The headers of the request are larger than 16 KB.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'The request did not arrive in time.']
        : ['400 Bad Request', 'This is not a well-formed HTTP/1.1 request.']
  const body = JSON.stringify({ code: Number.parseInt(status, 10), message, requestId: randomUUID() })
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
  return socket.end(head + body)
}

/** A server that turns requests into events for the handler that `handlerFor` names for their path. */
export const createHttpServer = (handlerFor: (path: string) => Handler): Server => {
  const serve = async (request: IncomingMessage, response: ServerResponse, body: Readable, waits: () => boolean) => {
    const event = toEvent(request, body)
    const result = await handlerFor(event.path)(event, {})
    await answer(request, response, result, waits())
  }
  const guarded = (serving: Promise<void>, response: ServerResponse) =>
    serving.catch((error: unknown) => {
      console.error('A request could not be answered:', error)
      response.destroy()
    })

  const server = createServer((request, response) => {
    void guarded(
      serve(request, response, request, () => false),
      response,
    )
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const body = bodyAfterLeave(request, response)
    // As long as nothing has read from it, the caller holds its body back.
    void guarded(
      serve(request, response, body, () => !body.readableDidRead),
      response,
    )
  })
  server.on('clientError', refuse)
  return server
}
