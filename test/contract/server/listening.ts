import type { SecureContextOptions } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { PublicOperation } from '../../../lib/http/operation.ts'
import { closerOf, createSecureServer, createServer, type Front } from '../../../server/server.ts'
import { bareHandler } from '../../support/bare-handler.ts'
import { listen } from '../../support/listen.ts'

interface Settings {
  /** How long closing waits for running requests, in milliseconds. */
  readonly patience?: number
  readonly front?: Front
  readonly certificate?: SecureContextOptions
}

/** A server with one operation at `/`, until the end of the test, and the records of its requests. */
export const listening = async (run: PublicOperation, { patience = 0, front = {}, certificate }: Settings = {}) => {
  const { handler, records } = bareHandler(run)
  const server = certificate
    ? createSecureServer(certificate, () => handler, front)
    : createServer(() => handler, front)
  const close = closerOf(server, patience)
  const url = (await listen(server)).replace('http', certificate ? 'https' : 'http')
  onTestFinished(async () => {
    if (server.listening) await close()
  })
  return { url, close, server, records }
}
