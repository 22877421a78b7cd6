import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { GatewayEvent, GatewayResult } from '../lib/http/gateway.ts'
import type { Handler } from '../lib/http/pipeline.ts'

/** What of a request body is read after an early answer, so that the caller sees the answer and not a broken connection. */
const lingerBytes = 16 * 1024 * 1024
const lingerMs = 2_000

/** How long nothing may pass on a connection that is in use, in milliseconds. */
const longestSilence = 120_000

/** In one pass: a query may have thousands of names, and one of them thousands of values. */
const queryOf = (text: string): Record<string, string[]> => {
  const pairs = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return Object.fromEntries([...pairs].map(([name, same]) => [name, same.map(([, value]) => value)]))
}

/** A `#` in a target is a character like any other; in a URL that is made of it, all that follows would be no part of it. */
const encodeHash = (target: string): string => target.replaceAll('#', '%23')

const headersOf = (request: IncomingMessage) => request.headersDistinct as Record<string, string[]>

/** The event that API Gateway would make of the request, but for the body, which stays a stream. */
const toEvent = (request: IncomingMessage, bodyStream: Readable): GatewayEvent => {
  const [, path = '/', query = ''] = /^(?:https?:\/\/[^/]+)?([^?]*)\??(.*)$/s.exec(request.url ?? '/') ?? []
  return {
    httpMethod: request.method ?? 'GET',
    path: encodeHash(path),
    multiValueHeaders: headersOf(request),
    multiValueQueryStringParameters: queryOf(query),
    rawQueryString: encodeHash(query),
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

/** Sends a stream at the pace of the caller. Should one of the two break, so does the connection: half a file must not look whole. */
const sendStream = async (stream: Readable, response: ServerResponse): Promise<void> => {
  try {
    await pipeline(stream, response, { end: false })
  } catch (error) {
    response.destroy()
    if (!isBrokenConnection(error)) throw error
  }
}

const isBrokenConnection = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

const answer = async (request: IncomingMessage, response: ServerResponse, result: GatewayResult, waits: boolean) => {
  const { statusCode, headers, bodyStream } = result
  const body = Buffer.from(result.body)
  const hasLength = statusCode !== 204 && statusCode !== 304
  const unread = !request.complete
  response.writeHead(statusCode, {
    ...(hasLength && { 'Content-Length': body.length }),
    ...headers,
    ...(unread && { Connection: 'close' }),
  })
  if (request.method === 'HEAD') {
    bodyStream?.destroy()
    response.flushHeaders()
  } else if (bodyStream) await sendStream(bodyStream, response)
  else response.write(body)
  if (unread && !waits) await readAway(request)
  response.end()
}

/** The answer to what is no request to the service, and so never reaches the pipeline; its code is the HTTP status. */
const refusal = (status: number, message: string) => {
  const requestId = randomUUID()
  const body = JSON.stringify({ code: status, message, requestId })
  const headers = {
    'X-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  return { status, headers, body }
}

const notHttp = 'This is not a well-formed HTTP/1.1 request.'

const refusalOf = ({ code }: NodeJS.ErrnoException) => {
  if (code === 'HPE_HEADER_OVERFLOW') return refusal(431, 'The headers of the request are larger than 16 KB.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refusal(408, 'The request did not arrive in time.')
  return refusal(400, notHttp)
}

const refuseOn = (socket: Duplex, { status, headers, body }: ReturnType<typeof refusal>) => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** What the HTTP parser refuses has no response object to be answered on. */
const refuseConnection = (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  return refuseOn(socket, refusalOf(error))
}

/** A tunnel to somewhere else: the one method whose target is no path, and whose connection Node hands over as a bare socket. */
const refuseTunnel = (socket: Duplex) => {
  // It is nobody else's now: not its errors, not what still comes on it, and not its end.
  socket.on('error', () => {})
  socket.resume()
  socket.once('finish', () => socket.destroy())
  refuseOn(socket, refusal(400, 'This service is no proxy: it does not answer CONNECT.'))
}

const refuse = (response: ServerResponse, { status, headers, body }: ReturnType<typeof refusal>) =>
  response.writeHead(status, headers).end(body)

const lacksHost = ({ httpVersion, headers }: IncomingMessage) => httpVersion === '1.1' && headers.host === undefined

/** A server that turns requests into events for the handler that `handlerFor` names for their path. */
export const createHttpServer = (handlerFor: (path: string) => Handler): Server => {
  const serve = async (request: IncomingMessage, response: ServerResponse, body: Readable, waits: () => boolean) => {
    const event = toEvent(request, body)
    const result = await handlerFor(event.path)(event, {})
    await answer(request, response, result, waits())
  }
  const take = (request: IncomingMessage, response: ServerResponse, body: Readable, waits: () => boolean) => {
    if (lacksHost(request)) return refuse(response, refusal(400, notHttp))
    return serve(request, response, body, waits).catch((error: unknown) => {
      console.error('A request could not be answered:', error)
      response.destroy()
    })
  }

  // Node's own answer to a request without Host has no body.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    void take(request, response, request, () => false)
  })
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const body = bodyAfterLeave(request, response)
    // As long as nothing has read from it, the caller holds its body back.
    void take(request, response, body, () => !body.readableDidRead)
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, refusal(417, 'The only expectation that can be met is 100-continue.'))
  })
  server.on('clientError', refuseConnection)
  server.on('connect', (_request, socket) => refuseTunnel(socket))
  // A large upload over a slow line may take long; what may not is a silence.
  server.requestTimeout = 0
  server.setTimeout(longestSilence)
  return server
}
