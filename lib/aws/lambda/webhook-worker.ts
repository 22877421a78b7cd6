import { randomUUID } from 'node:crypto'
import type { Context, DynamoDBStreamEvent, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { ownMetrics } from '../../config/functions.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { type Deadline, unlimited } from '../../core/time.ts'
import { type DeliveryDeps, deliverNext } from '../../webhooks/deliver.ts'
import type { Webhooks } from '../../webhooks/webhooks.ts'
import type { WebhookLeases } from '../dynamodb/webhooks.ts'
import type { WebhookMessage, WebhookQueue } from '../sqs-queues.ts'
import { logMeasures } from './telemetry.ts'

interface Deps extends DeliveryDeps {
  readonly webhooks: Webhooks
  readonly leases: WebhookLeases
  readonly queue: WebhookQueue
}

// In milliseconds: the time that is reserved for the last calls of a worker. A lease lasts longer than its worker.
const [timeToHandOver, afterTheEnd] = [3_000, 1_000]

const longestDelayInSeconds = 900

// In milliseconds: the clocks of processes differ by up to this time. A message that is due within this time may be the
// current message.
const clockDifference = 5_000

const mostAtOnce = 20

/**
 * In seconds; undefined if no message is needed. `wakesAt` is the arrival of a message that was sent before: up to a
 * second after `next`, because delays are whole seconds.
 */
const delayOf = (next: number | undefined, wakesAt: number | undefined, now: number): number | undefined => {
  if (next === undefined) return undefined
  if (wakesAt !== undefined && wakesAt > now + clockDifference && wakesAt < next + 1_000) return undefined
  return Math.min(longestDelayInSeconds, Math.ceil((next - now) / 1000))
}

type State = Omit<Awaited<ReturnType<typeof deliverNext>>, 'next'>

/** V-28. While deliveries succeed in time, these metrics have no values and cost nothing. */
const logState = ({ failingSince, isWaiting }: State, now: number, members: object): void => {
  if (failingSince === undefined && !isWaiting) return
  logMeasures('WARN', 'A webhook fails or waits', members, {
    [ownMetrics.failingWebhooks]: Number(failingSince !== undefined),
    [ownMetrics.oldestWebhookFailure]: Math.round((now - (failingSince ?? now)) / 1000),
    [ownMetrics.waitingWebhooks]: Number(isWaiting),
  })
}

const isOfStream = (event: SQSEvent | DynamoDBStreamEvent): event is DynamoDBStreamEvent =>
  event.Records[0]?.eventSource === 'aws:dynamodb'

/** V-17: the stream of the history wakes the webhooks of the sites that have new entries. */
export const createWebhookWorker = ({ leases, queue, ...deps }: Deps) => {
  const { webhooks, clock } = deps
  const wakeSites = async ({ Records }: DynamoDBStreamEvent): Promise<void> => {
    const sites = new Set(Records.flatMap(({ dynamodb }) => dynamodb?.Keys?.['site']?.N ?? []))
    await inParallel(sites, mostAtOnce, (site) => queue.send({ site: storedId(site) }, 0))
  }

  // Makes the due deliveries of one webhook. Messages only wake workers, so a repeated, late or reordered message
  // causes no other delivery. The worker with the lease also does the work of later workers. The queue repeats the
  // message of a worker that dies.
  const workOn = async (site: SiteId, webhook: string, deadline: Deadline, FunctionName: string): Promise<void> => {
    const holder = randomUUID()
    let wakesAt: number | undefined
    for (;;) {
      const lease = await leases.take(site, webhook, holder, deadline.timeLeft() + timeToHandOver + afterTheEnd)
      if (!lease) return
      const { next, ...state } = await deliverNext(deps, site, webhook, deadline)
      const now = clock.wall()
      logState(state, now, { FunctionName, site, webhook })
      if (next !== undefined && next <= now) {
        await leases.giveBack(site, webhook, { holder })
        await queue.send({ site, webhook }, 0)
        return
      }
      wakesAt ??= lease.wakesAt
      const delay = delayOf(next, wakesAt, now)
      if (delay !== undefined) {
        await queue.send({ site, webhook }, delay)
        wakesAt = now + delay * 1000
      }
      if (await leases.giveBack(site, webhook, { ...lease, wakesAt })) return
    }
  }

  const work = async ({ site, webhook }: WebhookMessage, deadline: Deadline, functionName: string): Promise<void> => {
    const named = webhook === undefined ? await webhooks.listOfSite(site) : [{ id: webhook, enabled: true }]
    const enabled = named.filter((each) => each.enabled)
    await inParallel(enabled, mostAtOnce, ({ id }) => workOn(site, id, deadline, functionName))
  }

  const readQueue = async ({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const deadline = unlimited.within(context.getRemainingTimeInMillis() - timeToHandOver, clock.monotonic)
    const attempts = [...Map.groupBy(Records, ({ body }) => body)].map(async ([body, equal]) => {
      try {
        const { site, webhook } = JSON.parse(body)
        // A redrive of the dead letters also brings the reports of Lambda about failed batches of the stream. A report
        // names no site, so the entries of its batch are sent with the next entry of their site.
        if (site !== undefined) await work({ site: storedId(site), webhook }, deadline, context.functionName)
        return []
      } catch (error) {
        console.error('A delivery of webhooks failed. The queue repeats its message:', error)
        return equal
      }
    })
    const failed = (await Promise.all(attempts)).flat()
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) }
  }

  return async (event: SQSEvent | DynamoDBStreamEvent, context: Context): Promise<SQSBatchResponse | undefined> =>
    isOfStream(event) ? void (await wakeSites(event)) : readQueue(event, context)
}
