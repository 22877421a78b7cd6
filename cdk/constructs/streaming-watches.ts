import { Duration, Stack } from 'aws-cdk-lib'
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { StreamFunction } from './streaming.ts'

export interface Watch {
  readonly id: string
  readonly metric: IMetric
  // 0 unless set: any value above it.
  readonly threshold?: number
  readonly periods: number
  readonly impact: string
  readonly action: string
}

export const period = Duration.minutes(5)

// Counts log lines with all of these words, in every log format of Lambda.
const linesWith = (logs: ILogGroup, id: string, ...words: string[]): IMetric => {
  const { stackName } = Stack.of(logs)
  const filter = new MetricFilter(logs, id, {
    logGroup: logs,
    filterPattern: FilterPattern.allTerms(...words),
    metricNamespace: stackName,
    metricName: id,
  })
  return filter.metric({ statistic: 'Sum', period })
}

// Lambda checks only that the process accepts connections, so these alarms read its log.
export const streamingWatches = ({ logs }: StreamFunction): readonly Watch[] => [
  {
    id: 'StreamFailures',
    metric: linesWith(logs, 'StreamErrors', 'ERROR'),
    threshold: 5,
    periods: 2,
    impact: 'Requests for files fail because of the service.',
    action: 'Search the log of the Web Function for ERROR.',
  },
  {
    id: 'StreamStarts',
    metric: linesWith(logs, 'StreamStartFailures', 'platform.initReport', 'failure'),
    periods: 1,
    impact:
      'The Web Function cannot start: requests for files fail. A new revision gets all requests, even if it cannot ' +
      'start.',
    action: 'Deploy the previous version, then find the reason in the log.',
  },
]
