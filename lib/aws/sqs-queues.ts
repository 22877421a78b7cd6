import { SendMessageCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import type { SiteId } from '../core/ids.ts'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

/** Without `webhook`, the message is for all webhooks of the site. The delay is in seconds. Errors: unavailable. */
export interface WebhookQueue {
  send(message: WebhookMessage, delay: number): Promise<unknown>
}

export interface WebhookMessage {
  readonly site: SiteId
  readonly webhook?: string
}

export const createSqsQueue = (queueUrl: string, config: SQSClientConfig = {}) => {
  // The host in the queue URL of an emulator may be unknown outside of the emulator. The endpoint serves every queue.
  const options = { maxAttempts: 3, requestHandler: smallCallTimeouts, useQueueUrlAsEndpoint: false }
  const client = failLikePort(new SQSClient({ ...options, ...config }))
  return {
    async send(message: { readonly site: SiteId }, delay: number): Promise<string> {
      const MessageBody = JSON.stringify({ ...message, site: String(message.site) })
      const sent = await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, DelaySeconds: delay }))
      if (sent.MessageId === undefined) throw new Error(`The queue ${queueUrl} returned no message id`)
      return sent.MessageId
    },
  }
}
