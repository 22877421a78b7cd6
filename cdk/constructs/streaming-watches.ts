import { Duration, Stack } from 'aws-cdk-lib'
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { StreamFunction } from './web-function.ts'

/** What an alarm watches, and what it says. */
export interface Watch {
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

export const period = Duration.minutes(5)

/** How many lines of a log hold all of these words, in whatever form Lambda writes what the function says. */
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

/** What is watched of the function that streams: what it says itself, as Lambda looks at nothing but whether it takes connections. */
export const streamingWatches = ({ logs }: StreamFunction): readonly Watch[] => [
  {
    id: 'StreamFailures',
    metric: linesWith(logs, 'StreamErrors', 'ERROR'),
    threshold: 5,
    periods: 2,
    impact: 'Requests for files fail through no fault of their callers.',
    action: 'Look for ERROR in the log of the function that streams.',
  },
  {
    id: 'StreamStarts',
    metric: linesWith(logs, 'StreamStartFailures', 'platform.initReport', 'failure'),
    threshold: 0,
    periods: 1,
    impact:
      'The function that streams cannot start: requests for files fail. A new revision gets all requests, whether it starts or not.',
    action: 'Give the requests back to the revision before it, then look at the log for why it could not start.',
  },
]
