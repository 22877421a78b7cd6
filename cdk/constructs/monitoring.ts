import { CfnOutput, Duration, Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { ownMetrics, removalTimes } from '../../lib/config/functions.ts'
import { globalTables, type TableDefinition, type TableName, tables } from '../../lib/config/tables.ts'
import { lostEntry } from '../../lib/core/history-entry.ts'
import { capitalised } from '../../lib/core/names.ts'
import type { ByFunction, FunctionName } from '../config/functions.ts'
import { operationsOn } from '../config/grants.ts'
import { replicaRegions, type Settings } from '../config/settings.ts'
import { createAlarms, type Watch } from './alarms.ts'
import type { WorkQueue } from './background-functions.ts'
import { type StreamFunction, streamingWatches } from './streaming.ts'

export interface Watched {
  readonly api: RestApi
  readonly functions: ByFunction<LambdaFunction>
  readonly tables: Partial<Readonly<Record<TableName, ITable>>>
  readonly removals: WorkQueue
  readonly webhooks: WorkQueue | undefined
  readonly lostEvents: Queue | undefined
  readonly streaming: StreamFunction | undefined
  readonly canary: LambdaFunction | undefined
  readonly backups: readonly Watch[]
}

const gatewayWatches = (api: RestApi): readonly Watch[] => [
  {
    id: 'ServerErrors',
    metric: api.metricServerError({ statistic: 'Average' }),
    threshold: 0.01,
    periods: 2,
    impact: 'More than 1 in 100 requests fails because of the service.',
    action: 'Search the logs of the functions for level ERROR.',
  },
  {
    id: 'Slow',
    metric: api.metricLatency({ statistic: 'p99' }),
    threshold: 5_000,
    periods: 3,
    impact: '1 in 100 callers waits for more than 5 seconds.',
    action: 'Look at the dashboard to see whether the functions or the tables are slow.',
  },
]

const functionWatches = (name: string, lambda: LambdaFunction): readonly Watch[] => [
  {
    id: `${name}Failures`,
    metric: lambda.metricErrors(),
    periods: 2,
    impact: `The function ${name} ends without an answer: its work fails, and requests get 503.`,
    action: 'Read its log: the function cannot start, or has used up its memory or time.',
  },
  {
    id: `${name}Throttles`,
    metric: lambda.metricThrottles(),
    periods: 2,
    impact: `The work of the function ${name} waits, and requests get 503: too many functions run at once.`,
    action: 'Ask AWS for more concurrent executions in this region.',
  },
]

const metricOf = (table: ITable, metricName: string, statistic: string, dimensions: Record<string, string> = {}) =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: table.tableName, ...dimensions },
    statistic,
  })

export const throttlesOf = (kind: 'Read' | 'Write', table: ITable, index?: string) =>
  metricOf(table, `${kind}ThrottleEvents`, 'Sum', index === undefined ? {} : { GlobalSecondaryIndexName: index })

const throttleWatches = (name: string, table: ITable, index?: string): readonly Watch[] =>
  (['Read', 'Write'] as const).map((kind) => ({
    id: `${name}${capitalised(index ?? '')}${kind}Throttles`,
    metric: throttlesOf(kind, table, index),
    threshold: 10,
    periods: 2,
    impact:
      `The ${index === undefined ? 'table' : `index ${index} of the table`} ${name} throttles ` +
      `${kind.toLowerCase()}s: callers wait, and some get 503.`,
    action: 'The usual cause is one very busy site or list. Find it in the access logs.',
  }))

// An operation has a value only while it fails. `SUM` ignores the missing values of the others, but `+` does not. On AWS,
// an alarm can add up ten metrics. On MiniStack, an alarm cannot add up metrics.
const errorWatch = (name: TableName, table: ITable): Watch => {
  const operations = [...operationsOn(name)].map((operation): [string, Metric] => [
    operation.toLowerCase(),
    metricOf(table, 'SystemErrors', 'Sum', { Operation: operation }),
  ])
  return {
    id: `${name}Errors`,
    metric: new MathExpression({
      expression: `SUM([${operations.map(([id]) => id).join(', ')}])`,
      usingMetrics: Object.fromEntries(operations),
    }),
    threshold: 5,
    impact: `DynamoDB fails to answer for the table ${name}: requests are repeated, and some get 503.`,
    action: 'Check the AWS Health Dashboard for a fault of DynamoDB in this region.',
  }
}

const tableWatches = (name: TableName, table: ITable, isEmulated: boolean): readonly Watch[] => {
  const { indexes = {} }: TableDefinition = tables[name]
  return [
    ...throttleWatches(name, table),
    ...Object.keys(indexes).flatMap((index) => throttleWatches(name, table, index)),
    ...(isEmulated ? [] : [errorWatch(name, table)]),
  ]
}

export const replicationsIn = (tables: Watched['tables'], regions: readonly string[]) =>
  globalTables.flatMap((name) => {
    const table = tables[name]
    if (!table) return []
    return regions.map((region) => {
      const metric = metricOf(table, 'ReplicationLatency', 'Maximum', { ReceivingRegion: region })
      return { name, region, metric }
    })
  })

export const replicationWatch = ({ name, region, metric }: ReturnType<typeof replicationsIn>[number]): Watch => ({
  id: `${name}ReplicationTo${region}`,
  metric,
  // A cached token works for up to 20 seconds after it was revoked. With the time for replication, it works nowhere
  // longer than a minute.
  threshold: 40_000,
  periods: 2,
  impact:
    `Changes of the table ${name} take more than 40 seconds to reach ${region}: revoked tokens still work ` +
    'there, and new tokens do not work yet.',
  action: 'Check whether AWS reports a fault of DynamoDB in one of the two regions.',
})

const largestOf = (metricName: string, { functionName }: LambdaFunction, period = Duration.minutes(5)) =>
  new Metric({
    namespace: ownMetrics.namespace,
    metricName,
    dimensionsMap: { FunctionName: functionName },
    statistic: 'Maximum',
    period,
  })

const queueWatches = (
  name: FunctionName,
  { queue, failed }: WorkQueue,
  impacts: { readonly waiting: string; readonly failed: string },
): readonly Watch[] => [
  {
    id: `${capitalised(name)}Waiting`,
    metric: queue.metricApproximateAgeOfOldestMessage(),
    threshold: Duration.minutes(30).toSeconds(),
    impact: impacts.waiting,
    action: `Read the log of the function ${name}, and check whether the function is throttled.`,
  },
  {
    id: `${capitalised(name)}Failed`,
    metric: failed.metricApproximateNumberOfMessagesVisible(),
    impact: impacts.failed,
    action: `Find the reason in the log of the function ${name}, then redrive the queue.`,
  },
]

const removalWatches = (removals: WorkQueue, worker: LambdaFunction): readonly Watch[] => [
  ...queueWatches('removals', removals, {
    waiting: 'The removal of a folder has made no progress for half an hour: uploads into the folder are refused.',
    failed: 'The removal of a folder has stopped half-way: uploads into the folder are refused.',
  }),
  {
    id: 'RemovalsOld',
    metric: largestOf(ownMetrics.oldestRemoval, worker),
    threshold: removalTimes.old,
    impact: 'The removal of a folder has taken more than two hours: uploads into the folder are refused.',
    action:
      'Search the log of the Lambda function "removals" for "A removal is open". If the removal is large, it may only need more time.',
  },
]

export const logGroupsOf = ({ functions, streaming }: Watched): readonly (readonly [name: string, ILogGroup])[] => [
  ...Object.entries(functions).map(([name, { logGroup }]) => [name, logGroup] as const),
  ...(streaming ? [['stream', streaming.logs] as const] : []),
]

const historyWatch = (scope: Construct, watched: Watched): Watch => {
  const metricNamespace = Stack.of(scope).stackName
  const metricName = 'LostHistoryEntries'
  const filterPattern = FilterPattern.literal(`"${lostEntry}"`)
  for (const [name, logGroup] of logGroupsOf(watched)) {
    new MetricFilter(scope, `${name}${metricName}`, { logGroup, filterPattern, metricNamespace, metricName })
  }
  return {
    id: 'HistoryEntriesLost',
    metric: new Metric({ namespace: metricNamespace, metricName, statistic: 'Sum' }),
    impact: 'The history of a site lacks a change. The change itself succeeded.',
    action: `Search the logs of the functions for "${lostEntry}". The line contains the entry and the reason.`,
  }
}

const canaryWatch = (canary: LambdaFunction): Watch => ({
  id: 'CanaryFailures',
  metric: canary.metricErrors(),
  periods: 2,
  impact:
    'The canary cannot store, read and remove a file and a field. Either callers cannot do so, or the ' +
    'token of the canary has expired.',
  action: 'Read the log of CanaryFunction: it names the request that failed, and the answer.',
})

const changeEventsWatch = (failed: Queue): Watch => ({
  id: 'ChangeEventsFailed',
  metric: failed.metricApproximateNumberOfMessagesVisible(),
  impact: 'Some changes of sites did not reach the event bus.',
  action: 'Read these changes with GET changes. The messages in the queue name the reason.',
})

// One slow webhook does not make a message old, because the worker of the webhook sends a new message.
const webhooksWatches = (webhooks: WorkQueue): readonly Watch[] =>
  queueWatches('webhooks', webhooks, {
    waiting: 'Webhooks report changes half an hour late.',
    failed: 'Some webhooks report a change only after the next change to the same site.',
  })

const targetsWatch = (worker: LambdaFunction): Watch => ({
  id: 'WebhookTargetsFailing',
  metric: largestOf(ownMetrics.oldestWebhookFailure, worker, Duration.minutes(30)),
  threshold: Duration.hours(6).toSeconds(),
  impact: 'A target of a webhook has failed for six hours. After five days, its webhook is disabled.',
  action: 'Search the log of the function webhooks for "A webhook fails or waits", and tell the owner of the target.',
})

const watchesOf = (scope: Construct, watched: Watched, settings: Settings): readonly Watch[] => [
  ...gatewayWatches(watched.api),
  ...Object.entries(watched.functions).flatMap(([name, lambda]) => functionWatches(name, lambda)),
  ...(Object.entries(watched.tables) as [TableName, ITable][]).flatMap(([name, table]) =>
    tableWatches(name, table, settings.emulatorEndpoint !== undefined),
  ),
  ...replicationsIn(watched.tables, replicaRegions(settings, Stack.of(scope).region)).map(replicationWatch),
  ...removalWatches(watched.removals, watched.functions.removals),
  historyWatch(scope, watched),
  ...(watched.lostEvents ? [changeEventsWatch(watched.lostEvents)] : []),
  ...(watched.webhooks ? webhooksWatches(watched.webhooks) : []),
  ...(watched.functions.webhooks ? [targetsWatch(watched.functions.webhooks)] : []),
  ...(watched.streaming ? streamingWatches(watched.streaming) : []),
  ...(watched.canary ? [canaryWatch(watched.canary)] : []),
  ...watched.backups,
]

// A broken version sets off one of these alarms within ten minutes. CloudFormation watches at most five alarms.
const rollbackAlarms = ['ServerErrors', 'removalsFailures', 'StreamFailures', 'StreamStarts']

export const watchDataCentre = (stack: Stack, watched: Watched, settings: Settings, alarmTopic: string | undefined) => {
  const scope = new Construct(stack, 'Alarms')
  const alarms = createAlarms(scope, watchesOf(scope, watched, settings), settings, alarmTopic)
  const watching = alarms.filter(({ node }) => rollbackAlarms.includes(node.id))
  new CfnOutput(stack, 'RollbackAlarms', { value: watching.map(({ alarmArn }) => alarmArn).join(' ') })
}
