import { Duration, type Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  Alarm,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import type { Settings } from '../settings.ts'

/** What of a data centre is watched. */
export interface Watched {
  readonly api: RestApi
  /** By the names under which people know them. */
  readonly functions: Readonly<Record<string, IFunction>>
  readonly tables: Readonly<Record<string, ITable>>
  /** Where messages go that the worker failed on too often. */
  readonly failedRemovals: IQueue
}

interface Watch {
  readonly id: string
  readonly metric: IMetric
  /** The alarm goes off above it. */
  readonly threshold: number
  /** In how many periods of five minutes, one after the other. */
  readonly periods: number
  /** What callers notice. */
  readonly impact: string
  /** What to do first. */
  readonly action: string
}

const period = Duration.minutes(5)

const gatewayWatches = (api: RestApi): readonly Watch[] => [
  {
    id: 'ServerErrors',
    // The average of this metric is the share of requests.
    metric: api.metricServerError({ period, statistic: 'Average' }),
    threshold: 0.01,
    periods: 2,
    impact: 'More than 1 in 100 requests fails through no fault of its caller.',
    action: 'Look for level ERROR in the logs of the functions.',
  },
  {
    id: 'Slow',
    metric: api.metricLatency({ period, statistic: 'p99' }),
    threshold: 5_000,
    periods: 3,
    impact: '1 in 100 callers waits for more than 5 seconds.',
    action: 'See on the dashboard whether functions or tables are slow.',
  },
]

const functionWatches = (name: string, lambda: IFunction): readonly Watch[] => [
  {
    id: `${name}Failures`,
    metric: lambda.metricErrors({ period }),
    threshold: 0,
    periods: 2,
    impact: `The function ${name} ends without an answer: what it was to do fails, with 503 if it was a request.`,
    action: 'Look at its log: it cannot start, or has run out of memory or time.',
  },
  {
    id: `${name}Throttles`,
    metric: lambda.metricThrottles({ period }),
    threshold: 0,
    periods: 2,
    impact: `What the function ${name} is to do waits, or is turned away with 503 if it is a request: too many run at once.`,
    action: 'Ask AWS for more concurrent executions in this region.',
  },
]

/** How often a table turned reads or writes away. */
const throttlesOf = (kind: 'Read' | 'Write', table: ITable): Metric =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName: `${kind}ThrottleEvents`,
    dimensionsMap: { TableName: table.tableName },
    statistic: 'Sum',
    period,
  })

const tableWatches = (name: string, table: ITable): readonly Watch[] =>
  (['Read', 'Write'] as const).map((kind) => ({
    id: `${name}${kind}Throttles`,
    metric: throttlesOf(kind, table),
    threshold: 10,
    periods: 2,
    impact: `The table ${name} turns ${kind.toLowerCase()}s away: callers wait, and some get 503.`,
    action: 'One very busy site or list is the usual cause: find it in the access logs.',
  }))

const removalWatch = (failed: IQueue): Watch => ({
  id: 'RemovalsFailed',
  metric: failed.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
  threshold: 0,
  periods: 1,
  impact: 'The removal of a folder has stopped half-way: uploads into it are refused.',
  action: 'Find out why in the log of the function removals, then redrive the queue.',
})

/** Everything that is watched, and what each alarm means. */
const watchesOf = ({ api, functions, tables, failedRemovals }: Watched): readonly Watch[] => [
  ...gatewayWatches(api),
  ...Object.entries(functions).flatMap(([name, lambda]) => functionWatches(name, lambda)),
  ...Object.entries(tables).flatMap(([name, table]) => tableWatches(name, table)),
  removalWatch(failedRemovals),
]

/** A topic with a policy of its own has lost the one that lets alarms of the account publish to it, so that they are let in by name. */
const createTopic = (scope: Construct, email: string, account: string): Topic => {
  const topic = new Topic(scope, 'Topic', { displayName: 'Alarms of site-admin', enforceSSL: true })
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': account } },
    }),
  )
  topic.addSubscription(new EmailSubscription(email))
  return topic
}

/** Alarms that say what callers notice and what to do; told by e-mail when somebody wants to know. */
export const createAlarms = (stack: Stack, watched: Watched, { alarmEmail }: Settings): readonly Alarm[] => {
  const scope = new Construct(stack, 'Alarms')
  const topic = alarmEmail === undefined ? undefined : createTopic(scope, alarmEmail, stack.account)
  return watchesOf(watched).map(({ id, metric, threshold, periods, impact, action }) => {
    const alarm = new Alarm(scope, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${impact} ${action}`,
    })
    if (topic) alarm.addAlarmAction(new SnsAction(topic))
    return alarm
  })
}

const graph = (title: string, left: IMetric[], right: IMetric[] = []) =>
  new GraphWidget({ title, left, right, width: 12, height: 6, period })

/** What a person looks at when an alarm has gone off: from the gateway inwards. */
export const createDashboard = (stack: Stack, { api, functions, tables }: Watched): void => {
  const ofFunctions = Object.entries(functions)
  const ofTables = Object.entries(tables)
  const dashboard = new Dashboard(stack, 'Dashboard', { dashboardName: stack.stackName })
  dashboard.addWidgets(
    graph('Requests', [api.metricCount()], [api.metricClientError(), api.metricServerError()]),
    graph('Latency, ms', [api.metricLatency({ statistic: 'p50' }), api.metricLatency({ statistic: 'p99' })]),
    graph(
      'Duration of functions, p99, ms',
      ofFunctions.map(([label, lambda]) => lambda.metricDuration({ statistic: 'p99', label })),
    ),
    graph(
      'Failures of functions',
      ofFunctions.map(([label, lambda]) => lambda.metricErrors({ label })),
    ),
    graph(
      'Functions at work',
      ofFunctions.map(([label, lambda]) => lambda.metric('ConcurrentExecutions', { statistic: 'Maximum', label })),
    ),
    graph(
      'Reads (left) and writes (right) that tables turned away',
      ofTables.map(([label, table]) => throttlesOf('Read', table).with({ label })),
      ofTables.map(([label, table]) => throttlesOf('Write', table).with({ label })),
    ),
  )
}
