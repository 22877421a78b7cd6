import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import { handler as storageFunction } from '../../../functions/entries/storage.ts'
import { latecomer, sendEvent } from '../../support/lambda.ts'
import { call, deployment, storage } from '../support/deployment.ts'
import { fillFolder } from '../support/fill-folder.ts'

it('a removal without time answers 202, and the worker ends it', async () => {
  await fillFolder('slow', 2_100)
  const headers = { Authorization: deployment.token }
  const answer = await sendEvent(storageFunction, 'DELETE', `${storage}/slow`, { headers, remaining: latecomer() })
  expect({ status: answer.status, body: answer.json }).toEqual({ status: 202, body: { status: 'deleting' } })

  await expect.poll(async () => (await call('/slow?meta')).status, { timeout: 60_000 }).toBe(404)
  // The removal is complete, so the name is free again.
  const put = () => call('/slow/new.txt', { method: 'PUT', headers: { 'Content-Type': 'text/plain' } })
  await expect.poll(async () => (await put()).status, { timeout: 30_000 }).toBe(200)
})

it('a message that the worker cannot read ends in the dead-letter queue', async () => {
  const client = new SQSClient({ useQueueUrlAsEndpoint: false })
  const [QueueUrl, failed] = [deployment.removals, deployment.failedRemovals]
  // Delivers the message again at once, not minutes later.
  await client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout: '1' } }))
  const MessageBody = 'no removal'
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody }))
  const receive = async () => {
    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: failed }))
    for (const { ReceiptHandle } of Messages) {
      await client.send(new DeleteMessageCommand({ QueueUrl: failed, ReceiptHandle }))
    }
    return Messages.map(({ Body }) => Body)
  }
  await expect.poll(receive, { timeout: 90_000, interval: 500 }).toContain(MessageBody)
  client.destroy()
})
