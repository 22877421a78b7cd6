import type { Client } from './generated/client/index.ts'
import type { Site } from './generated/types.gen.ts'
import type { Send } from './transport.ts'

/** What the parts of a client share: the site, the generated calls (each throws a `ServiceError`), and what sends requests. */
export interface Connection {
  readonly site: Site
  readonly calls: Client
  readonly send: Send
}
