import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod/mini'
import { parseId, type SiteId } from '../ids.ts'
import { toStoragePath } from './path.ts'
import type { RemovalQueue, RemovalTask } from './removal-queue.ts'

const message = z.object({ site: z.string(), path: z.string(), id: z.string() })

/** The queue of removals in SQS. */
export const createSqsRemovalQueue = (client: SQSClient, queueUrl: string): RemovalQueue => ({
  async send({ site, path, id }, delay) {
    const MessageBody = JSON.stringify({ site: String(site), path, id })
    await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody, DelaySeconds: delay }))
  },
})

/** Reads what the queue delivers. Throws an Error when it is none of the service's messages. */
export const readRemovalTask = (body: string): RemovalTask => {
  const { site, path, id } = z.parse(message, JSON.parse(body))
  const siteId = parseId<SiteId>(site)
  if (siteId === undefined) throw new Error(`${site} is no site`)
  return { site: siteId, path: toStoragePath(path), id }
}
