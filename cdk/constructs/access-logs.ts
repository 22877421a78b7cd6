import { RemovalPolicy } from 'aws-cdk-lib'
import { AccessLogFormat, LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigateway'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

/** What is logged of each request. `$context.path` has no query, and nothing else here does: a query may hold a token. */
const fields: Readonly<Record<string, string>> = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  responseLength: '$context.responseLength',
  latency: '$context.responseLatency',
  integrationLatency: '$context.integrationLatency',
  error: '$context.error.responseType',
}

/** One line of JSON for each request, kept for a month. */
export const createAccessLogs = (
  scope: Construct,
): Required<Pick<StageOptions, 'accessLogDestination' | 'accessLogFormat'>> => ({
  accessLogDestination: new LogGroupLogDestination(
    new LogGroup(scope, 'AccessLogs', { retention: RetentionDays.ONE_MONTH, removalPolicy: RemovalPolicy.DESTROY }),
  ),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(fields)),
})
