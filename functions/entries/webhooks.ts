import type { Context, DynamoDBStreamEvent, SQSEvent } from 'aws-lambda'
import { createKmsSeals } from '../../lib/aws/kms-seals.ts'
import { type GatewayEvent, lambdaHandler } from '../../lib/aws/lambda/gateway.ts'
import { createTelemetry } from '../../lib/aws/lambda/telemetry.ts'
import { createWebhookWorker } from '../../lib/aws/lambda/webhook-worker.ts'
import { openDirectory, openWebhooks } from '../../lib/aws/open-tables.ts'
import { createSqsQueue } from '../../lib/aws/sqs-queues.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import { createWebhooksDeps } from '../../lib/service/deps.ts'
import { createTarget } from '../../lib/webhooks/target.ts'
import { createWebhooksHandler } from '../webhooks/group.ts'

const settings = readSettingsOf('webhooks')
const { leases, ...ofWebhooks } = openWebhooks(settings)
const seals = createKmsSeals(settings.webhooksKey)
const stores = { ...openDirectory(settings), ...ofWebhooks, seals }
const telemetry = createTelemetry('webhooks', settings.logLevel)
const deps = createWebhooksDeps(settings, stores, { telemetry, target: createTarget({ permitsPrivate: false }) })

const answer = lambdaHandler(createWebhooksHandler(deps), settings)
const work = createWebhookWorker({ ...deps, leases, queue: createSqsQueue(settings.webhooksQueueUrl) })

/** The gateway, the stream of the history, and the queue of webhooks all send events to this function. */
export const handler = (event: GatewayEvent | DynamoDBStreamEvent | SQSEvent, context: Context) =>
  'Records' in event ? work(event, context) : answer(event, context)
