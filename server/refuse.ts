import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { corsHeaders } from '../lib/http/render-reply.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

// An answer that is sent before a handler runs. Its code is the HTTP status.
interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string
}

const refusal = (status: number, message: string): Refusal => {
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

const notHttp = 'The request is not well-formed HTTP/1.1. Correct it, then send it again.'

const refuse = (response: ServerResponse, { status, headers, body }: Refusal): void => {
  response.writeHead(status, headers).end(body)
}

export const refuseMalformed = (response: ServerResponse): void => refuse(response, refusal(400, notHttp))

export const refuseExpectation = (response: ServerResponse): void =>
  refuse(response, refusal(417, 'The header Expect can only be 100-continue. Leave out Expect, or send 100-continue.'))

export const refuseStranger = (message: IncomingMessage, response: ServerResponse): void => {
  response.once('finish', () => message.complete || message.destroy())
  refuse(
    response,
    refusal(403, 'This address answers only requests that come through CloudFront. Use the base URL of the service.'),
  )
}

const refusalOf = ({ code }: NodeJS.ErrnoException): Refusal => {
  if (code === 'HPE_HEADER_OVERFLOW')
    return refusal(431, 'The headers of the request are larger than 16 KB. Send fewer or shorter headers.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return refusal(408, 'The request did not arrive completely in time. Send it again.')
  return refusal(400, notHttp)
}

const refuseOn = (socket: Duplex, { status, headers, body }: Refusal): void => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

export const refuseConnection = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else refuseOn(socket, refusalOf(error))
}

export const refuseTunnel = (socket: Duplex): void => {
  // After this, no other code handles errors, data and the end of the socket.
  socket.on('error', () => {})
  socket.resume()
  socket.once('finish', () => socket.destroy())
  refuseOn(socket, refusal(400, 'This service is not a proxy and does not answer CONNECT. Send the request directly.'))
}
