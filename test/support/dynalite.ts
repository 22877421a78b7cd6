import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import dynalite from 'dynalite'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'

/** A DynamoDB for tests, in memory, on a socket of its own. */
export interface Dynalite {
  /** A client of its own, to which a test may do what it likes. */
  connect(): DynamoDBDocumentClient
  close(): Promise<void>
}

/** What stands in front of dynalite and may answer in its place. Answers whether it did. */
type Intercept = (
  headers: IncomingHttpHeaders,
  body: Buffer,
  response: ServerResponse,
  request: IncomingMessage,
) => boolean

/**
 * The server of a dynalite, which listens nowhere yet. dynalite ends the process when a client goes away in the middle
 * of a request: it only ever gets to see whole ones.
 */
export const createDynaliteServer = (intercept: Intercept = () => false): Server => {
  const server: Server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  const [listener] = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    request.toArray().then(
      (chunks: Buffer[]) => {
        const { headers, method, url } = request
        const body = Buffer.concat(chunks)
        if (intercept(headers, body, response, request)) return
        const replay = Object.assign(Readable.from(body.length > 0 ? [body] : []), { headers, method, url })
        listener?.(replay as unknown as IncomingMessage, response)
      },
      () => response.destroy(),
    )
  })
  return server
}

export const startDynalite = async (): Promise<Dynalite> => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-dynalite-'))
  const socket = join(folder, 'socket')
  const server = createDynaliteServer()
  await once(server.listen(socket), 'listening')
  const clients: DynamoDBDocumentClient[] = []
  return {
    connect() {
      const client = createDocumentClient({
        endpoint: 'http://localhost',
        region: 'local',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
        requestHandler: {
          httpAgent: Object.assign(new Agent({ keepAlive: true, maxSockets: 64 }), {
            createConnection: () => connect(socket),
          }),
        },
      })
      clients.push(client)
      return client
    },
    async close() {
      for (const client of clients) client.destroy()
      server.closeAllConnections()
      const closed = once(server, 'close')
      server.close()
      await closed
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
