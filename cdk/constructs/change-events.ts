import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { EventBus } from 'aws-cdk-lib/aws-events'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { EventSourceMapping, type Function as LambdaFunction, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { CfnPipe } from 'aws-cdk-lib/aws-pipes'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { functionSettings, workloads } from '../config/functions.ts'
import { allow, allowKeys } from '../config/grants.ts'
import type { Settings } from '../config/settings.ts'
import { consumeQueue, createWorkQueue, safeQueue } from './background-functions.ts'

// A stream record contains the updated block. The first entry of the block is the one that the update added
// (lib/aws/dynamodb/journal-blocks.ts).
const block = (path: string) => `$.dynamodb.NewImage.${path}`
const entry = (member: string) => block(`entries.L[0].M.${member}.S`)
const text = (path: string) => `<${path}>`

// CloudEvents 1.0, described in docs/change-event.schema.json. Every variable part is a text, because the pipe adds no
// quotes.
const cloudEvent = (dataCentre: string) => ({
  specversion: '1.0',
  id: `${text(block('block.N'))}${text(block('count.N'))}-${text(block('site.N'))}`,
  source: `/data-centres/${dataCentre}`,
  type: text(entry('type')),
  subject: `sites/${text(block('site.N'))}/${text(entry('subject'))}`,
  time: text(entry('at')),
  datacontenttype: 'application/json',
  data: {
    site: text(block('site.N')),
    subject: text(entry('subject')),
    actor: text(entry('actor')),
    requestId: text(entry('requestId')),
    details: text(entry('details')),
  },
})

/** Selects only updates that add an entry. Expired items, and the head of a history, add none. */
const additions = {
  pattern: JSON.stringify({
    eventName: ['INSERT', 'MODIFY'],
    dynamodb: { NewImage: { count: { N: [{ exists: true }] } } },
  }),
}

const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams']

const streamOf = ({ tableStreamArn }: ITable): string => {
  if (tableStreamArn === undefined) throw new Error('The table of the history has no stream')
  return tableStreamArn
}

/**
 * Sends every history entry to an event bus through a pipe. The installation adds its own rules to the bus. Returns the
 * queue for the events that the pipe could not deliver.
 */
export const createChangeEvents = (scope: Construct, journal: ITable, dataCentre: string, settings: Settings) => {
  const parts = new Construct(scope, 'ChangeEvents')
  const { region } = Stack.of(parts)
  const stream = streamOf(journal)
  const bus = new EventBus(parts, 'Bus', { description: 'The changes to the sites of a data centre' })
  const failed = new Queue(parts, 'Failed', safeQueue)
  const role = new Role(parts, 'Role', { assumedBy: new ServicePrincipal('pipes.amazonaws.com') })
  for (const statement of [
    allow('dynamodb', streamActions, stream),
    allow('sqs', ['SendMessage'], failed.queueArn),
    allow('events', ['PutEvents'], bus.eventBusArn),
    ...allowKeys(settings, [region], ['dynamodb', 'sqs']),
    ...allowKeys(settings, [region], ['sqs'], ['GenerateDataKey']),
  ]) {
    role.addToPolicy(statement)
  }
  const pipe = new CfnPipe(parts, 'Pipe', {
    roleArn: role.roleArn,
    source: stream,
    sourceParameters: {
      dynamoDbStreamParameters: {
        startingPosition: 'LATEST',
        batchSize: 10,
        maximumRetryAttempts: 20,
        onPartialBatchItemFailure: 'AUTOMATIC_BISECT',
        deadLetterConfig: { arn: failed.queueArn },
      },
      filterCriteria: { filters: [additions] },
    },
    target: bus.eventBusArn,
    targetParameters: {
      inputTemplate: JSON.stringify(cloudEvent(dataCentre)),
      eventBridgeEventBusParameters: { source: 'site-admin', detailType: entry('type') },
    },
  })
  pipe.node.addDependency(role)
  new CfnOutput(parts, 'BusName', { value: bus.eventBusName }).overrideLogicalId('ChangeEventBus')
  return failed
}

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
    retryAttempts: 20,
    onFailure: { bind: () => ({ destination: failed.queueArn }) },
  })
  const maxConcurrency = workloads.webhooks.workers
  consumeQueue(queue, worker, { batchSize: 10, maxConcurrency, reportBatchItemFailures: true })
}
