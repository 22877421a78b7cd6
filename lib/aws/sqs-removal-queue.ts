import { SendMessageCommand, SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs'
import type { RemovalQueue } from '../storage/path-locks.ts'
import { failLikePort, smallCallTimeouts } from './calls/client-calls.ts'

/** `createRemovalWorker` reads its messages. */
export const createSqsRemovalQueue = (queueUrl: string, config: SQSClientConfig = {}): RemovalQueue => {
  const client = new SQSClient({
    maxAttempts: 3,
    requestHandler: smallCallTimeouts,
    // Outside an emulator, the host in the URL of a queue may be unknown. The endpoint of the region serves every
    // queue.
    useQueueUrlAsEndpoint: false,
    ...config,
  })
  failLikePort(client)
  return {
    async send({ site, path, id }, delay) {
      const MessageBody = JSON.stringify({ site: String(site), path, id })
      const sent = await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, DelaySeconds: delay }))
      if (sent.MessageId === undefined) throw new Error('The queue of removals returned no message id')
      return sent.MessageId
    },
  }
}
