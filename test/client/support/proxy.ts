import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { text } from 'node:stream/consumers'
import { closeAtOnce, listen } from '../../support/listen.ts'

/**
 * The proxy passes a request on, refuses it, asks for a repetition after a second, or cuts the request before the
 * service, after the answer or within it.
 */
export type Fate = 'pass' | 'later' | 401 | 412 | 413 | 429 | 500 | 503 | 'cut before' | 'cut after' | 'cut within'

export type Decide = (method: string, path: string, index: number, length: number) => Fate

const refuse = (response: ServerResponse, status: number, seconds = 0) =>
  response
    .writeHead(status, { 'Retry-After': seconds, 'Content-Type': 'application/json' })
    .end('{"code":100503,"message":"Busy."}')

/** A proxy in front of a service. It replaces the address of the service with its own, and listens on any free port. */
export const startProxy = async (target: string, decide: Decide) => {
  let index = 0
  const server = createServer((incoming, response) => {
    response.on('error', () => {})
    const { method = '', url: path = '', headers } = incoming
    const fate = decide(method, path, index++, Number(headers['content-length'] ?? 0))
    if (fate === 'cut before') return void incoming.socket.destroy()
    if (typeof fate === 'number' || fate === 'later') {
      incoming.resume()
      return fate === 'later' ? refuse(response, 503, 1) : refuse(response, fate)
    }
    const outgoing = ask(
      `${target}${incoming.url}`,
      { method: incoming.method, headers: incoming.headers },
      (answer) => void pass(answer, response, fate),
    )
    outgoing.on('error', () => response.destroy())
    pipeline(incoming, outgoing, () => {})
  })
  const url = await listen(server)

  const pass = async (answer: IncomingMessage, response: ServerResponse, fate: Fate): Promise<void> => {
    if (fate === 'cut after') {
      await text(answer)
      return void response.destroy()
    }
    const { location, 'content-length': _, ...headers } = answer.headers
    response.writeHead(answer.statusCode ?? 500, {
      ...headers,
      ...(location && { location: location.replace(target, url) }),
    })
    if (headers['content-type']?.includes('json'))
      return void response.end((await text(answer)).replaceAll(target, url))
    if (fate === 'pass') return void answer.pipe(response)
    answer.once('end', () => response.destroy())
    answer.once('data', (chunk) => response.write(chunk.subarray(0, chunk.length / 2), () => response.destroy()))
  }

  return { url, stop: () => closeAtOnce(server) }
}
