import type { Client } from './generated/client/index.ts'
import type { Site } from './generated/types.gen.ts'
import type { Send } from './transport.ts'

export interface Connection {
  readonly site: Site
  readonly calls: Client
  readonly send: Send
}
