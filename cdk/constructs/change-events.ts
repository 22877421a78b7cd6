import { CfnOutput } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { EventBus } from 'aws-cdk-lib/aws-events'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnPipe } from 'aws-cdk-lib/aws-pipes'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { allow } from './statements.ts'

/** An item of the table as it is after an update, whose first entry is the newest: the one that the update has added (lib/aws/dynamodb/journal-blocks.ts). */
const block = (path: string) => `$.dynamodb.NewImage.${path}`
const entry = (member: string) => block(`entries.L[0].M.${member}.S`)
const text = (path: string) => `<${path}>`

/** An event of CloudEvents 1.0, as docs/change-event.schema.json describes it. Everything that varies is text: the pipe puts quotes around nothing. */
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

/** Updates that have added an entry: neither what is forgotten, nor the head of a history, which has none. */
const additions = {
  eventName: ['INSERT', 'MODIFY'],
  dynamodb: { NewImage: { count: { N: [{ exists: true }] } } },
}

/** How many entries the pipe takes at once: as many as one call to a bus may hold. */
const batchSize = 10

/** How often the pipe tries to deliver what the bus has refused, before it goes on with the next. */
const retries = 20

interface Options {
  readonly journal: ITable
  /** The id of the data centre. */
  readonly dataCentre: string
}

export interface ChangeEvents {
  /** Where the pipe notes what it could not deliver. */
  readonly failed: Queue
}

/** Has every entry of the history go to an event bus, by a pipe and no function. Rules on the bus are the affair of the installation. */
export const createChangeEvents = (scope: Construct, { journal, dataCentre }: Options): ChangeEvents => {
  const parts = new Construct(scope, 'ChangeEvents')
  const stream = journal.tableStreamArn
  if (stream === undefined) throw new Error('The table of the history has no stream')
  const bus = new EventBus(parts, 'Bus', { description: 'What has happened to the sites of a data centre' })
  const failed = new Queue(parts, 'Failed', { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true })
  const role = new Role(parts, 'Role', { assumedBy: new ServicePrincipal('pipes.amazonaws.com') })
  for (const statement of [
    allow('dynamodb', ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'], stream),
    allow('sqs', ['SendMessage'], failed.queueArn),
    allow('events', ['PutEvents'], bus.eventBusArn),
  ]) {
    role.addToPolicy(statement)
  }
  const pipe = new CfnPipe(parts, 'Pipe', {
    roleArn: role.roleArn,
    source: stream,
    sourceParameters: {
      dynamoDbStreamParameters: {
        startingPosition: 'LATEST',
        batchSize,
        maximumRetryAttempts: retries,
        onPartialBatchItemFailure: 'AUTOMATIC_BISECT',
        deadLetterConfig: { arn: failed.queueArn },
      },
      filterCriteria: { filters: [{ pattern: JSON.stringify(additions) }] },
    },
    target: bus.eventBusArn,
    targetParameters: {
      inputTemplate: JSON.stringify(cloudEvent(dataCentre)),
      eventBridgeEventBusParameters: { source: 'site-admin', detailType: entry('type') },
    },
  })
  // A pipe is tried out when it is made.
  pipe.node.addDependency(role)
  new CfnOutput(parts, 'BusName', { value: bus.eventBusName }).overrideLogicalId('ChangeEventBus')
  return { failed }
}
