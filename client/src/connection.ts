import type { Client } from './generated/client/index.ts'
import type { Site } from './generated/types.gen.ts'
import type { Send } from './transport.ts'

/** The shared parts of a client: the site, the generated calls (which throw a `ServiceError`) and the transport. */
export interface Connection {
  readonly site: Site
  readonly calls: Client
  readonly send: Send
}
