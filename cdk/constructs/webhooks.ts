import { RemovalPolicy } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import { EventSourceMapping, type Function as LambdaFunction, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { functionSettings, workloads } from '../config/functions.ts'
import { additions, streamActions, streamOf } from './change-events.ts'
import { createWorkQueue } from './file-storage.ts'
import { allow } from './statements.ts'

/** The queue of webhooks with undelivered entries, and the key that encrypts the secrets of webhooks (V-4, V-17). */
export const createWebhookParts = (scope: Construct, deletionProtection: boolean) => {
  const parts = new Construct(scope, 'Webhooks')
  const key = new Key(parts, 'SecretsKey', {
    description: 'Encrypts the secrets of webhooks',
    enableKeyRotation: true,
    // Without the key, nobody can decrypt the secrets.
    removalPolicy: deletionProtection ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  })
  return { ...createWorkQueue(parts, functionSettings.webhooks.timeout), key }
}

export type WebhookParts = ReturnType<typeof createWebhookParts>

// A worker works on all messages of a batch at once, so 200 targets may be slow at once. A retry repeats a whole batch.
const [batchSize, retryAttempts] = [10, 20]

export const consumeWebhooks = ({ queue, failed }: WebhookParts, journal: ITable, worker: LambdaFunction): void => {
  const stream = streamOf(journal)
  worker.addToRolePolicy(allow('dynamodb', streamActions, stream))
  worker.addToRolePolicy(allow('sqs', ['SendMessage'], failed.queueArn))
  new EventSourceMapping(queue, 'Stream', {
    target: worker,
    eventSourceArn: stream,
    startingPosition: StartingPosition.LATEST,
    filters: [additions],
    bisectBatchOnError: true,
    retryAttempts,
    onFailure: { bind: () => ({ destination: failed.queueArn }) },
  })
  new EventSourceMapping(queue, 'Worker', {
    target: worker,
    eventSourceArn: queue.queueArn,
    batchSize,
    maxConcurrency: workloads.webhooks.workers,
    reportBatchItemFailures: true,
  })
}
