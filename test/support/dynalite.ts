import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { callStore, openServer } from './dynalite-store.ts'
import { sdkSettings } from './sdk-settings.ts'

/** A DynamoDB for tests, in memory. */
export interface Dynalite {
  /** A separate client, which a test may change. It sends each call at most `maxAttempts` times. */
  connect(maxAttempts?: number): DynamoDBDocumentClient
  createTable(input: CreateTableCommandInput): Promise<void>
  /** A server with the same tables for other processes. The caller makes it listen. */
  readonly server: Server
  close(): Promise<void>
}

/** Receives each request before dynalite, and may answer it. Returns true if it has answered. */
type Intercept = (
  headers: IncomingHttpHeaders,
  body: Buffer,
  response: ServerResponse,
  request: IncomingMessage,
) => boolean

interface SmallRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const textOf = (body: string | Uint8Array = ''): string =>
  typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()

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

/** A dynalite in this process. */
export const openDynalite = (intercept: Intercept = () => false): Dynalite => {
  const { server, store } = openServer()
  const listener = server.listeners('request')[0] as RequestListener
  serveWhole(server, listener, intercept)
  const clients: DynamoDBDocumentClient[] = []
  return {
    server,
    connect(maxAttempts = 3) {
      const client = createDocumentClient({
        ...sdkSettings,
        accountIdEndpointMode: 'disabled',
        maxAttempts,
        endpoint: 'http://localhost',
        signer: { sign: async (request) => request },
        requestHandler: {
          handle: async ({ headers, body }: SmallRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
            abortSignal?.throwIfAborted()
            const operation = headers['x-amz-target']?.split('.')[1] ?? ''
            const answer = await callStore(store, operation, JSON.parse(textOf(body)))
            const bytes = Buffer.from(JSON.stringify(answer.body))
            return { response: { statusCode: answer.statusCode, headers: {}, body: bytes } }
          },
        },
      })
      clients.push(client)
      return client
    },
    async createTable(input) {
      await callStore(store, 'CreateTable', input)
    },
    async close() {
      for (const client of clients) client.destroy()
      server.closeAllConnections()
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      await closed.promise
    },
  }
}
