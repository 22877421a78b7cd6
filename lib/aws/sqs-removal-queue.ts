import { SendMessageCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import type { RemovalQueue } from '../storage/folder-removals.ts'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

/** The queue of removals in SQS. What it delivers is read by `createRemovalWorker`. */
export const createSqsRemovalQueue = (queueUrl: string, config: SQSClientConfig = {}): RemovalQueue => {
  const client = new SQSClient({
    maxAttempts: 3,
    requestHandler: smallCallTimeouts,
    // A queue's URL names a host that an emulator's machine may not know; the region's endpoint takes calls for any queue.
    useQueueUrlAsEndpoint: false,
    ...config,
  })
  failLikePort(client)
  return {
    async send({ site, path, id }, delay) {
      const MessageBody = JSON.stringify({ site: String(site), path, id })
      const sent = await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, DelaySeconds: delay }))
      if (sent.MessageId === undefined) throw new Error('The queue of removals has not named a message')
      return sent.MessageId
    },
  }
}
