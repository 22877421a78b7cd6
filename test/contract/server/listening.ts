import type { SecureContextOptions } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { Handler } from '../../../lib/http/request.ts'
import { closerOf, createSecureServer, createServer, type Front } from '../../../server/server.ts'
import { listen } from '../../support/listen.ts'

/** A server over a handler until the end of the test. Closing waits `patience` milliseconds. */
export const listening = async (
  handler: Handler,
  patience = 0,
  front: Front = {},
  certificate?: SecureContextOptions,
) => {
  const server = certificate
    ? createSecureServer(certificate, () => handler, front)
    : createServer(() => handler, front)
  const close = closerOf(server, patience)
  const url = (await listen(server)).replace('http', certificate ? 'https' : 'http')
  onTestFinished(async () => {
    if (server.listening) await close()
  })
  return { url, close, server }
}
