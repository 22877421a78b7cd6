import { request as requestHttp } from 'node:http'

interface Sent {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface Received {
  readonly status: number
  /** Without parameters; undefined where there is no body. */
  readonly mediaType: string | undefined
  readonly text: string
}

/** Sends a request as it is given, however large its headers are and whatever length they promise, and reads the answer. */
export const send = async (url: string, { method, headers, body }: Sent): Promise<Received> => {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const { origin, host, hostname, port } = new URL(url)
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const request = requestHttp(
    // The path as it is: the URL would leave out empty segments and such.
    {
      hostname,
      port,
      path: url.slice(origin.length),
      method,
      headers: { Host: host, ...length, ...headers },
      agent: false,
    },
    (response) => {
      response.toArray().then((chunks: Buffer[]) => {
        const text = Buffer.concat(chunks).toString()
        const mediaType = response.headers['content-type']?.split(';')[0]
        resolve({ status: response.statusCode ?? 0, mediaType: text === '' ? undefined : mediaType, text })
        request.destroy()
      }, reject)
    },
  )
  request.on('error', reject)
  request.end(body)
  return promise
}
