import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager'
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin, type HttpOriginProps } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { AaaaRecord, ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { streaming } from '../../lib/config/functions.ts'
import { prefixes } from '../../lib/contract/routes/routes.ts'
import { endpointLimits } from '../config/lambda-quotas.ts'
import type { DataCentreSettings } from '../config/settings.ts'
import type { Watch } from './alarms.ts'
import { admitDistribution } from './firewall.ts'
import { type CustomDomain, certificateOf, hostOf, stageName, zoneOf } from './gateway.ts'
import { createLogs, type FunctionOptions, statementsOf, streamEnvironment } from './service-functions.ts'

// The function accepts this secret and the previous one, so that requests succeed while the distribution changes to the
// new secret. AWS generates each secret once.
const originSecrets = (scope: Construct, number: number): readonly [Secret, ...Secret[]] => {
  const create = (index: number) =>
    new Secret(scope, `OriginSecret${index}`, {
      description: 'Proves to the Web Function that a request comes from the distribution',
      generateSecretString: { excludePunctuation: true, passwordLength: 48 },
      removalPolicy: RemovalPolicy.DESTROY,
    })
  return number > 1 ? [create(number), create(number - 1)] : [create(number)]
}

// The template contains no secrets: CloudFormation inserts them.
export const secretTexts = (secrets: readonly Secret[]): string =>
  secrets.map(({ secretValue }) => secretValue.unsafeUnwrap()).join(',')

const createStreamFunction = (scope: Construct, options: FunctionOptions, number: number) => {
  const { throttling } = options.settings
  const logs = createLogs(scope, 'Logs')
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logs.grantWrite(role)
  // Lambda writes every line to this second log group first, and then copies it to the first one.
  createLogs(scope, 'LocalLogs', `${logs.logGroupName}.local`).grantWrite(role)
  for (const statement of statementsOf('storage', options)) role.addToPolicy(statement)
  const secrets = originSecrets(scope, number)
  const lambda = new awsLambda.WebFunction(scope, 'Lambda', {
    revisionDescription: 'Files and folders of sites, streamed',
    runtime: awsLambda.WebFunctionRuntime.NODEJS_24_X,
    code: awsLambda.WebFunctionCode.fromAssetToManagedBucket(options.bundle),
    role,
    environment: streamEnvironment(options, secretTexts(secrets)),
    timeout: Duration.seconds(streaming.longestRequest),
    maxConcurrencyPerEnvironment: streaming.requestsAtOnce,
    logGroup: logs,
    // The function itself drops messages below its level. Lambda reports a failed start only at the level WARN.
    applicationLogLevel: awsLambda.ApplicationLogLevel.TRACE,
    systemLogLevel: awsLambda.SystemLogLevel.WARN,
    // The function itself checks the secret of the distribution. With IAM, the distribution would need a digest of the
    // whole body before it sends the first byte.
    defaultEndpointAuth: awsLambda.WebFunctionAuthType.APPLICATION_MANAGED,
    defaultEndpoint: endpointLimits(throttling),
  })
  Validations.of(lambda.endpoint).acknowledge({
    id: '@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
    reason: 'The function refuses every request without the secret of the distribution, before it reads the request.',
  })
  return { lambda, logs, secrets }
}

export type StreamFunction = ReturnType<typeof createStreamFunction>

// Passes requests and answers on unchanged, with the secret. Caching is off, because answers depend on the token.
// Compression is off, because it would weaken the entity tags.
const passTo = (domainName: string, secret: Secret, options: HttpOriginProps): cloudfront.BehaviorOptions => ({
  origin: new HttpOrigin(domainName, {
    ...options,
    protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
    customHeaders: { [streaming.secretHeader]: secret.secretValue.unsafeUnwrap() },
  }),
  allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
  cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
  originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
  // An unencrypted request already contains the token, so a redirect to https would come too late.
  viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
  compress: false,
})

// By default, CloudFront caches these errors for ten seconds, for every caller.
const rememberedErrors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

const recordsOf = (scope: Construct, customDomain: CustomDomain, distribution: cloudfront.Distribution) => {
  const zone = zoneOf(scope, customDomain)
  if (!zone) return []
  const target = RecordTarget.fromAlias(new CloudFrontTarget(distribution))
  return [new ARecord(scope, 'Record', { zone, target }), new AaaaRecord(scope, 'Record6', { zone, target })]
}

export interface Edge {
  readonly certificate?: ICertificate
  readonly webAclArn?: string
}

/**
 * A distribution as the address of a data centre. It sends requests for files to the streaming function, and all others
 * to the gateway. `entrance` must exist before callers are sent here.
 */
export const createStreaming = (
  scope: Construct,
  api: RestApi,
  dataCentre: DataCentreSettings,
  edge: Edge,
  stream: FunctionOptions,
) => {
  const parts = new Construct(scope, 'Streaming')
  const { customDomain, originSecret: number = 1 } = dataCentre
  const handled = createStreamFunction(parts, stream, number)
  const { lambda, secrets } = handled
  const toFunction = passTo(lambda.endpoint.domainName, secrets[0], {
    readTimeout: Duration.seconds(streaming.longestWait),
  })
  const certificate = edge.certificate ?? (customDomain && certificateOf(parts, customDomain))
  const streamed = prefixes.filter(({ group }) => group === 'storage')
  const distribution = new cloudfront.Distribution(parts, 'Distribution', {
    comment: Stack.of(scope).stackName,
    defaultBehavior: passTo(hostOf(api), secrets[0], { originPath: `/${stageName}` }),
    additionalBehaviors: Object.fromEntries(
      streamed.flatMap(({ prefix }) => [prefix, `${prefix}/*`].map((pattern) => [pattern, toFunction])),
    ),
    errorResponses: rememberedErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    ...(customDomain && { domainNames: [customDomain.domainName] }),
    ...(certificate && { certificate, minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021 }),
    // These metrics include the latency of the origins, which an alarm needs.
    publishAdditionalMetrics: true,
    ...(edge.webAclArn && { webAclId: edge.webAclArn }),
  })
  if (edge.webAclArn) distribution.node.addDependency(admitDistribution(api, secrets))
  // Without streaming, this record leads to the gateway. Streaming changes the record, because a name can have only one
  // record.
  const records = customDomain ? recordsOf(new Construct(api, 'Entrance'), customDomain, distribution) : []
  return { ...handled, distribution, entrance: [distribution, ...records] }
}

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
      }),
      threshold: 5,
      periods: 2,
      impact: 'Requests for files fail because of the service.',
      action: 'Search the log of the Web Function for level ERROR.',
    },
    {
      id: 'StreamStarts',
      metric: starts.metric({ statistic: 'Sum' }),
      impact:
        'The Web Function cannot start: requests for files fail. A new revision gets all requests, even if it cannot ' +
        'start.',
      action: 'Deploy the previous version, then find the reason in the log.',
    },
  ]
}

/** Failures that callers notice, in any part of a data centre. CloudFront has its metrics in one region only. */
export const distributionWatches = (id: string, distribution: cloudfront.Distribution): readonly Watch[] => [
  {
    id: `${id}DistributionFailures`,
    metric: distribution.metric5xxErrorRate(),
    threshold: 1,
    periods: 2,
    impact: `More than 1 in 100 requests to the data centre ${id} fails.`,
    action: 'Look at the alarms of the data centre, then read the log of the distribution.',
  },
  {
    id: `${id}DistributionSlow`,
    metric: distribution.metricOriginLatency({ statistic: 'p50' }),
    // An upload lasts as long as its body, so the alarm watches the median.
    threshold: 5_000,
    periods: 3,
    impact: `Half of the callers of the data centre ${id} wait for more than 5 seconds.`,
    action:
      'Look at the dashboard of the data centre to see whether the functions or the tables are slow. ' +
      'Many large uploads are not a fault.',
  },
]
