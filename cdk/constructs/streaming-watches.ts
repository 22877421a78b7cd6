import { Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { period, type Watch } from './alarms.ts'
import type { StreamFunction } from './streaming.ts'

const failedStarts = ['failure', 'error', 'timeout'] as const

export const streamingWatches = ({ lambda, logs }: StreamFunction): readonly Watch[] => {
  const metricName = 'StreamStartFailures'
  // Lambda only checks that the process accepts connections, and reports no failed starts as a metric.
  const starts = new MetricFilter(logs, metricName, {
    logGroup: logs,
    filterPattern: FilterPattern.all(
      FilterPattern.stringValue('$.type', '=', 'platform.initReport'),
      FilterPattern.any(...failedStarts.map((status) => FilterPattern.stringValue('$.record.status', '=', status))),
    ),
    metricNamespace: Stack.of(logs).stackName,
    metricName,
  })
  return [
    {
      id: 'StreamFailures',
      metric: new Metric({
        namespace: 'AWS/Lambda/Web',
        metricName: 'HTTPResponseStatusClass5XX',
        dimensionsMap: { FunctionName: lambda.webFunctionName, EndpointName: lambda.endpoint.resource.endpointName },
        statistic: 'Sum',
        period,
      }),
      threshold: 5,
      periods: 2,
      impact: 'Requests for files fail because of the service.',
      action: 'Search the log of the Web Function for level ERROR.',
    },
    {
      id: 'StreamStarts',
      metric: starts.metric({ statistic: 'Sum', period }),
      periods: 1,
      impact:
        'The Web Function cannot start: requests for files fail. A new revision gets all requests, even if it cannot ' +
        'start.',
      action: 'Deploy the previous version, then find the reason in the log.',
    },
  ]
}

/** Failures that callers notice, in any part of a data centre. CloudFront has its metrics in one region only. */
export const distributionWatches = (id: string, distribution: Distribution): readonly Watch[] => [
  {
    id: `${id}DistributionFailures`,
    // In percent of all requests.
    metric: distribution.metric5xxErrorRate({ period }),
    threshold: 1,
    periods: 2,
    impact: `More than 1 in 100 requests to the data centre ${id} fails.`,
    action: 'Look at the alarms of the data centre, then read the log of the distribution.',
  },
  {
    id: `${id}DistributionSlow`,
    metric: distribution.metricOriginLatency({ period, statistic: 'p50' }),
    // An upload lasts as long as its body, so the alarm watches the median.
    threshold: 5_000,
    periods: 3,
    impact: `Half of the callers of the data centre ${id} wait for more than 5 seconds.`,
    action:
      'Look at the dashboard of the data centre to see whether the functions or the tables are slow. ' +
      'Many large uploads are not a fault.',
  },
]
