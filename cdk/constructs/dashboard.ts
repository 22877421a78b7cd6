import type { Stack } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import { period, throttlesOf, type Watched } from './watches.ts'

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
