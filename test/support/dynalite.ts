import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import dynalite from 'dynalite'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'

/** Receives each request before dynalite, and may answer it. Returns true if it has answered. */
type Intercept = (headers: IncomingHttpHeaders, body: Buffer, answer: ServerResponse, asked: IncomingMessage) => boolean

// dynalite checks the form of these headers, but not the signature.
const signed = {
  authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=none',
  'x-amz-date': '20260101T000000Z',
}

interface SmallRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

interface SmallResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Passes a request to dynalite without a socket, because a socket would cost more than the answer. */
const askDirectly = (listener: RequestListener, { method, path, headers, body }: SmallRequest) =>
  new Promise<SmallResponse>((resolve) => {
    const request = Object.assign(new EventEmitter(), { method, url: path, headers: { ...headers, ...signed } })
    const answered: Record<string, string> = {}
    const response = {
      statusCode: 200,
      setHeader(name: string, value: unknown) {
        answered[name.toLowerCase()] = String(value)
      },
      end(data: Uint8Array | string = '') {
        resolve({ statusCode: response.statusCode, headers: answered, body: Buffer.from(data) })
      },
    }
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse)
    if (body instanceof Uint8Array) request.emit('data', Buffer.from(body.buffer, body.byteOffset, body.byteLength))
    else if (body !== undefined) request.emit('data', Buffer.from(body))
    request.emit('end')
  })

/** dynalite would end the process if a client disconnected during a request. So it receives only complete requests. */
const serveWhole = (server: Server, listener: RequestListener, intercept: Intercept): void => {
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    request.toArray().then(
      (chunks: Buffer[]) => {
        const { headers, method, url } = request
        const body = Buffer.concat(chunks)
        if (intercept(headers, body, response, request)) return
        const replay = Object.assign(Readable.from(body.length > 0 ? [body] : []), { headers, method, url })
        listener(replay as unknown as IncomingMessage, response)
      },
      () => response.destroy(),
    )
  })
}

export const openDynalite = (intercept: Intercept = () => false) => {
  const server: Server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  const listener = server.listeners('request')[0] as RequestListener
  serveWhole(server, listener, intercept)
  const clients: DynamoDBDocumentClient[] = []
  return {
    /** A server with the same tables for other processes. The caller makes it listen. */
    server,
    /** A separate client, which a test may change. It sends each call at most `maxAttempts` times. */
    connect(maxAttempts = 3) {
      const client = createDocumentClient({
        maxAttempts,
        endpoint: 'http://localhost',
        region: 'local',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
        signer: { sign: async (request) => request },
        requestHandler: {
          handle: async (request: SmallRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
            abortSignal?.throwIfAborted()
            return { response: await askDirectly(listener, request) }
          },
        },
      })
      clients.push(client)
      return client
    },
    async close(): Promise<void> {
      for (const client of clients) client.destroy()
      server.closeAllConnections()
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      await closed.promise
    },
  }
}
