import { Duration } from 'aws-cdk-lib'
import { EventSourceMapping, type IFunction } from 'aws-cdk-lib/aws-lambda'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'

/** How often a message may fail before a person has to look at it. */
const attempts = 5

export interface RemovalsQueue {
  readonly queue: Queue
  /** Where messages go that failed too often. */
  readonly failed: Queue
}

/** The queue of removals that go on after their request. `longestWork` is what a worker may take for one message. */
export const createRemovalsQueue = (scope: Construct, longestWork: Duration): RemovalsQueue => {
  const parts = new Construct(scope, 'Removals')
  const common = {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  }
  const failed = new Queue(parts, 'Failed', common)
  const queue = new Queue(parts, 'Queue', {
    ...common,
    // A message is delivered again only when its worker must have ended.
    visibilityTimeout: Duration.seconds(longestWork.toSeconds() * 2),
    deadLetterQueue: { queue: failed, maxReceiveCount: attempts },
  })
  return { queue, failed }
}

/** Has a function work the queue off, one removal at a time. Its right to do so is among its grants. */
export const workOff = (queue: Queue, worker: IFunction): void => {
  new EventSourceMapping(queue, 'Worker', { target: worker, eventSourceArn: queue.queueArn, batchSize: 1 })
}
