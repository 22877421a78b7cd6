import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { corsHeaders } from '../lib/http/render-reply.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

// The answers that are sent before a handler runs. Their code is the HTTP status.
const refusals = {
  malformed: [400, 'The request is not well-formed HTTP/1.1. Correct it, and percent-encode its URL.'],
  tunnel: [400, 'This service is not a proxy and does not answer CONNECT. Send the request directly.'],
  stranger: [403, 'This address answers only requests through CloudFront. Use the base URL of the service.'],
  late: [408, 'The request did not arrive completely in time. Send it again.'],
  expectation: [417, 'The header Expect can only be 100-continue. Leave out Expect, or send 100-continue.'],
  longHeaders: [431, 'The headers of the request are larger than 16 KB. Send fewer or shorter headers.'],
} as const

type Refusal = keyof typeof refusals

const answerOf = (refusal: Refusal) => {
  const [status, message] = refusals[refusal]
  const requestId = randomUUID()
  const body = JSON.stringify({ code: status, message, requestId })
  const headers = {
    ...corsHeaders,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  return { status, headers, body }
}

export const refuse = (response: ServerResponse, refusal: Refusal): void => {
  const { status, headers, body } = answerOf(refusal)
  response.writeHead(status, headers).end(body)
}

export const refuseStranger = (response: ServerResponse): void => {
  response.once('finish', () => response.req.complete || response.req.destroy())
  refuse(response, 'stranger')
}

const refuseOn = (socket: Duplex, refusal: Refusal): void => {
  const { status, headers, body } = answerOf(refusal)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

const refusalOfCode: ReadonlyMap<string | undefined, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', 'longHeaders'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'late'],
])

export const refuseConnection = ({ code }: NodeJS.ErrnoException, socket: Duplex, hasAnswer = false): void => {
  if (code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else if (hasAnswer) socket.end()
  else refuseOn(socket, refusalOfCode.get(code) ?? 'malformed')
}

export const refuseTunnel = (socket: Duplex): void => {
  // After this, no other code handles errors, data and the end of the socket.
  socket.on('error', () => {})
  socket.resume()
  socket.once('finish', () => socket.destroy())
  refuseOn(socket, 'tunnel')
}
