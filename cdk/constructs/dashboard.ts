import { Duration, type Stack } from 'aws-cdk-lib'
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { replicaRegions, type Settings } from '../config/settings.ts'
import { blockedRequests } from './firewall.ts'
import { logGroupsOf, replicationsIn, throttlesOf, type Watched } from './monitoring.ts'

const graph = (title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) =>
  new cloudwatch.GraphWidget({ title, left, right, width: 12, period: Duration.minutes(5) })

const ofOperations = (title: string, watched: Watched, ...query: readonly string[]) =>
  new cloudwatch.LogQueryWidget({
    title,
    logGroupNames: logGroupsOf(watched).map(([, { logGroupName }]) => logGroupName),
    queryLines: ['filter message = "request"', ...query],
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    width: 12,
  })

export const createDashboard = (stack: Stack, watched: Watched, settings: Settings): void => {
  const { api, functions, tables, removals, streaming } = watched
  const replications = replicationsIn(tables, replicaRegions(settings, stack.region))
  const ofFunctions = (title: string, metricFor: (lambda: LambdaFunction, label: string) => cloudwatch.IMetric) =>
    graph(
      title,
      Object.entries(functions).map(([label, lambda]) => metricFor(lambda, label)),
    )
  const throttles = (kind: 'Read' | 'Write') =>
    Object.entries(tables).map(([label, table]) => throttlesOf(kind, table).with({ label }))
  const dashboard = new cloudwatch.Dashboard(stack, 'Dashboard', { dashboardName: stack.stackName })
  dashboard.addWidgets(
    graph('Requests', [api.metricCount()], [api.metricClientError(), api.metricServerError()]),
    graph('Latency, ms', [api.metricLatency({ statistic: 'p50' }), api.metricLatency({ statistic: 'p99' })]),
    ofFunctions('Duration of functions, p99, ms', (lambda, label) =>
      lambda.metricDuration({ statistic: 'p99', label }),
    ),
    ofFunctions('Failures of functions', (lambda, label) => lambda.metricErrors({ label })),
    ofFunctions('Concurrent functions', (lambda, label) =>
      lambda.metric('ConcurrentExecutions', { statistic: 'Maximum', label }),
    ),
    graph('Throttled reads (left) and writes (right) of tables', throttles('Read'), throttles('Write')),
    graph(
      'Waiting removals (left), and the age of the oldest in seconds (right)',
      [removals.queue.metricApproximateNumberOfMessagesVisible()],
      [removals.queue.metricApproximateAgeOfOldestMessage()],
    ),
    ...(replications.length > 0
      ? [
          graph(
            'Replication of the directory, ms',
            replications.map(({ name, region, metric }) => metric.with({ label: `${name} to ${region}` })),
          ),
        ]
      : []),
    ...(settings.webApplicationFirewall
      ? [graph('Requests that the firewall blocked', [...blockedRequests(stack, streaming !== undefined)])]
      : []),
    ofOperations(
      'Operations',
      watched,
      'stats count(*) as requests, pct(durationMs, 50) as p50, pct(durationMs, 99) as p99, max(durationMs) as ' +
        'slowest, sum(receivedBytes) as received, sum(sentBytes) as sent by operation',
      'sort requests desc',
    ),
    ofOperations(
      'Operations that were refused or failed',
      watched,
      'filter status >= 400',
      'stats count(*) as answers by operation, status',
      'sort answers desc',
    ),
  )
}
