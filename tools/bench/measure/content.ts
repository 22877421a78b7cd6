import { request } from 'node:http'

/** Yields `length` bytes, in pieces as they arrive from a socket. */
export async function* bytes(length: number): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  for (let sent = 0; sent < length; sent += chunk.length) yield chunk
}

const chunk = Buffer.alloc(256 * 1024, 'x')

interface Options {
  readonly method?: string
  readonly token?: string
  readonly contentType?: string
  /** Further headers of the request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a head, then bytes as fast as the server reads them, then a tail. Returns seconds. */
export const send = async (
  url: string,
  { head = '', length, tail = '' }: { readonly head?: string; readonly length: number; readonly tail?: string },
  { method = 'POST', token, contentType = 'application/octet-stream', headers = {} }: Options = {},
): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const startedAt = performance.now()
  const outgoing = request(
    url,
    {
      method,
      headers: {
        'Content-Type': contentType,
        'Content-Length': head.length + length + tail.length,
        ...(token && { Authorization: token }),
        ...headers,
      },
    },
    (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve((performance.now() - startedAt) / 1000)
        else reject(new Error(`The upload was answered ${response.statusCode}`))
      })
    },
  ).on('error', reject)
  outgoing.write(head)
  let sent = 0
  const pour = () => {
    while (sent < length) {
      const piece = chunk.subarray(0, Math.min(chunk.length, length - sent))
      sent += piece.length
      if (!outgoing.write(piece)) {
        outgoing.once('drain', pour)
        return
      }
    }
    outgoing.end(tail)
  }
  pour()
  return promise
}

const boundary = 'boundary-of-the-bench'
export const form = `multipart/form-data; boundary=${boundary}`
export const partHead = (name: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
export const formEnd = `\r\n--${boundary}--\r\n`

/** The body of a form with files of the same content. */
export const formOf = (names: readonly string[], content: string): string =>
  names.map((name) => `${partHead(name)}${content}`).join('\r\n') + formEnd
