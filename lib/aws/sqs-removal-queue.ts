import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { RemovalQueue } from '../storage/folder-removals.ts'

/** The queue of removals in SQS. What it delivers is read by `createRemovalWorker`. */
export const createSqsRemovalQueue = (client: SQSClient, queueUrl: string): RemovalQueue => ({
  async send({ site, path, id }, delay) {
    const MessageBody = JSON.stringify({ site: String(site), path, id })
    const sent = await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, DelaySeconds: delay }))
    if (sent.MessageId === undefined) throw new Error('The queue of removals has not named a message')
    return sent.MessageId
  },
})
