import { DecryptCommand, EncryptCommand, KMSClient, type KMSClientConfig } from '@aws-sdk/client-kms'
import { cachedLookup } from '../core/cached-lookup.ts'
import { systemClock } from '../core/time.ts'
import type { SecretSeals, Webhook } from '../webhooks/webhooks.ts'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

const contextOf = ({ site, id }: Pick<Webhook, 'site' | 'id'>) => ({ site: String(site), webhook: id })

const secretKeptFor = 5 * 60_000

/** V-4: a secret can be opened only with its key, and only for its own webhook. */
export const createKmsSeals = (key: string, config: KMSClientConfig = {}): SecretSeals => {
  const client = failLikePort(new KMSClient({ maxAttempts: 3, requestHandler: smallCallTimeouts, ...config }))

  const decrypt = async (request: string) => {
    const { sealed, ...EncryptionContext } = JSON.parse(request)
    const CiphertextBlob = Buffer.from(sealed, 'base64')
    const { Plaintext } = await client.send(new DecryptCommand({ KeyId: key, CiphertextBlob, EncryptionContext }))
    return Plaintext
  }
  const opened = cachedLookup(decrypt, { ttl: secretKeptFor, max: 1_000, now: systemClock.monotonic })

  return {
    async seal(webhook, secret) {
      const EncryptionContext = contextOf(webhook)
      const command = new EncryptCommand({ KeyId: key, Plaintext: Buffer.from(secret), EncryptionContext })
      return Buffer.from((await client.send(command)).CiphertextBlob ?? []).toString('base64')
    },

    async open(webhook, sealed) {
      const secret = await opened(JSON.stringify({ ...contextOf(webhook), sealed }))
      if (!secret) throw new Error('KMS returned no secret')
      return Buffer.from(secret).toString()
    },
  }
}
