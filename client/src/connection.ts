import type { Site } from './generated/types.gen.ts'
import type { SendCall } from './operation.ts'
import type { Send } from './transport.ts'

export interface Connection {
  readonly site: Site
  readonly call: SendCall
  readonly send: Send
}
