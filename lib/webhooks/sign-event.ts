import { createHmac } from 'node:crypto'

const prefix = 'whsec_'

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(prefix.length), 'base64')

/** V-7, as described in Standard Webhooks. `time` is in milliseconds since the epoch. */
export const signEvent = (id: string, time: number, body: string, secrets: readonly string[]) => {
  const timestamp = String(Math.floor(time / 1000))
  const signatureOf = (secret: string) =>
    `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(signatureOf).join(' '),
  }
}
