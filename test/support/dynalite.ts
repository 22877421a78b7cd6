import { EventEmitter } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { HttpRequest, HttpResponse } from '@smithy/core/protocols'
import dynalite from 'dynalite'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'

// dynalite checks the form of these headers, but not the signature.
const signed = {
  authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=none',
  'x-amz-date': '20260101T000000Z',
}

type SmallRequest = Pick<HttpRequest, 'method' | 'path' | 'headers' | 'body'>

/** Passes a request to dynalite without a socket, because a socket would cost more than the answer. */
const askDirectly = (listener: RequestListener, { method, path, headers, body }: SmallRequest) =>
  new Promise<Pick<HttpResponse, 'statusCode' | 'headers' | 'body'>>((resolve) => {
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

export const openDynalite = () => {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  const listener = server.listeners('request')[0] as RequestListener
  const clients: DynamoDBDocumentClient[] = []
  return {
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
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      await closed.promise
    },
  }
}
