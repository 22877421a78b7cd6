import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import * as apigateway from 'aws-cdk-lib/aws-apigateway'
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets'
import { Construct, type IDependable } from 'constructs'
import { groupAt, prefixes } from '../../lib/contract/routes/routes.ts'
import { errors } from '../../lib/core/errors.ts'
import { corsHeaders } from '../../lib/http/render-reply.ts'
import type { ByFunction } from '../config/functions.ts'
import type { DataCentreSettings, Settings } from '../config/settings.ts'
import { guardStage } from './firewall.ts'
import { createLogs } from './service-functions.ts'

export const stageName = 'live'

export const hostOf = (api: apigateway.RestApi): string => {
  const { region, urlSuffix } = Stack.of(api)
  return `${api.restApiId}.execute-api.${region}.${urlSuffix}`
}

/** `host` is the host name of the data centre. Without it, callers use the host name of the gateway. */
export const baseUrlOf = ({ emulatorEndpoint }: Settings, api: apigateway.RestApi, host?: string): string => {
  if (emulatorEndpoint) return `${emulatorEndpoint}/restapis/${api.restApiId}/${stageName}/_user_request_`
  return host === undefined ? `https://${hostOf(api)}/${stageName}` : `https://${host}`
}

// Allows TLS 1.2 and 1.3. By default, a regional API also allows TLS 1.0 on its domains.
const security = {
  securityPolicy: apigateway.SecurityPolicy.TLS13_1_2_PQ_2025_09,
  endpointAccessMode: apigateway.EndpointAccessMode.STRICT,
}

export type CustomDomain = NonNullable<DataCentreSettings['customDomain']>

export const zoneOf = (scope: Construct, { domainName, hostedZoneId }: CustomDomain): IHostedZone | undefined =>
  // A record without a name would get the name of the zone, so each record gets the name of the domain.
  hostedZoneId === undefined
    ? undefined
    : HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId, zoneName: domainName })

export const certificateOf = (scope: Construct, { domainName, certificateArn }: CustomDomain, zone?: IHostedZone) =>
  certificateArn === undefined
    ? new Certificate(scope, 'Certificate', { domainName, validation: CertificateValidation.fromDns(zone) })
    : Certificate.fromCertificateArn(scope, 'Certificate', certificateArn)

/**
 * Requires TLS 1.2 or newer. Adds the custom domain and its certificate. If the zone of the domain is known, also adds
 * the record of the domain. Returns the resources that must exist before callers are sent here.
 */
export const createEntrance = (api: apigateway.RestApi, customDomain?: CustomDomain): readonly IDependable[] => {
  const resource = api.node.defaultChild
  if (apigateway.CfnRestApi.isCfnRestApi(resource)) Object.assign(resource, security)
  if (!customDomain) return [api.deploymentStage]

  const scope = new Construct(api, 'Entrance')
  const zone = zoneOf(scope, customDomain)
  const domain = api.addDomainName('CustomDomain', {
    domainName: customDomain.domainName,
    certificate: certificateOf(scope, customDomain, zone),
    endpointType: apigateway.EndpointType.REGIONAL,
    ...security,
  })
  if (!zone) return [domain]
  return [domain, new ARecord(scope, 'Record', { zone, target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)) })]
}

type Functions = ByFunction<IFunction>

// Sends requests below the prefix of a group to the function of this group. One function gets all other requests, so
// that the service itself answers 404 and 405.
const addRoutes = ({ root }: apigateway.RestApi, functions: Functions): void => {
  const pathsOf = (prefix: string): readonly string[] => {
    const segments = prefix.replace('*', '{site}').split('/')
    return segments.flatMap((_, depth) => {
      const path = segments.slice(0, depth + 1).join('/')
      // A resource can have only one variable child.
      return segments[depth + 1] === '{site}' ? [path] : [path, `${path}/{proxy+}`]
    })
  }
  const answered = prefixes.filter(({ group }) => functions[group])
  for (const path of new Set(answered.flatMap(({ prefix }) => pathsOf(prefix)))) {
    const lambda = functions[groupAt(path)]
    const integration = lambda && new apigateway.LambdaIntegration(lambda, { allowTestInvoke: false })
    root.resourceForPath(path).addMethod('ANY', integration)
  }
}

interface Refusal {
  readonly type: apigateway.ResponseType
  readonly error: { readonly code: number; readonly status: number; readonly message: string }
  readonly retryAfter?: number
}

// The code of these answers is the status, because the service has no other code for them.
const byStatus = (status: number, message: string) => ({ code: status, status, message })

// Callers reach the limit of Lambda first: an event has at most 6 MB, with the body in base64. The limit of the
// gateway, 10 MB, is higher.
const requestTooLarge =
  'The request is too large: its body can have at most about 4.5 MB (6 MB in base64). Send files one by one, ' +
  'and larger files as resumable uploads (tus 1.0), in pieces of up to 4.5 MB.'

// The function is throttled, has failed or takes too long. The gateway does not know how much the function has done.
const unanswered = {
  ...errors.unavailable,
  message:
    'The service did not answer in time. The change may have been made; repeating it is safe. Repeat the ' +
    'request after the time in the Retry-After header.',
}

const refused =
  'The gateway refuses the request: its headers exceed 10 KB, its body exceeds 4.5 MB, or it is ' +
  'malformed. Correct the request, then send it again.'

const refusals: readonly Refusal[] = [
  { type: apigateway.ResponseType.MISSING_AUTHENTICATION_TOKEN, error: errors.routeUnknown },
  { type: apigateway.ResponseType.RESOURCE_NOT_FOUND, error: errors.routeUnknown },
  { type: apigateway.ResponseType.REQUEST_TOO_LARGE, error: { ...errors.bodyTooLarge, message: requestTooLarge } },
  { type: apigateway.ResponseType.UNSUPPORTED_MEDIA_TYPE, error: errors.mediaTypeUnsupported },
  { type: apigateway.ResponseType.THROTTLED, error: errors.tooManyRequests, retryAfter: 1 },
  { type: apigateway.ResponseType.QUOTA_EXCEEDED, error: errors.tooManyRequests, retryAfter: 3600 },
  { type: apigateway.ResponseType.INTEGRATION_FAILURE, error: unanswered, retryAfter: 1 },
  { type: apigateway.ResponseType.INTEGRATION_TIMEOUT, error: unanswered, retryAfter: 1 },
  {
    type: apigateway.ResponseType.WAF_FILTERED,
    error: byStatus(403, 'A firewall rule refused the request. If this is wrong, ask the operator of the service.'),
  },
  { type: apigateway.ResponseType.DEFAULT_4XX, error: byStatus(400, refused) },
  { type: apigateway.ResponseType.DEFAULT_5XX, error: unanswered, retryAfter: 1 },
]

const body = ({ code, message }: Refusal['error']) =>
  `{"code":${code},"message":${JSON.stringify(message)},"requestId":"$context.requestId"}`

// Quotes mark a fixed value. Without quotes, the gateway looks for a request parameter of this name.
const fixed = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]))

const addGatewayResponses = (api: apigateway.RestApi): void => {
  for (const { type, error, retryAfter } of refusals) {
    api.addGatewayResponse(type.responseType, {
      type,
      statusCode: String(error.status),
      responseHeaders: {
        ...fixed({
          ...corsHeaders,
          'Cache-Control': 'no-store',
          ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
        }),
        'X-Request-Id': 'context.requestId',
      },
      templates: { 'application/json': body(error) },
    })
  }
}

// `$context.path` leaves out the query, which may contain a token.
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
  integrationStatus: '$context.integration.status',
  integrationError: '$context.integration.error',
}

// Bodies pass unchanged in both directions. AWS needs only the first type. LocalStack ignores the first type and uses
// the others (https://github.com/localstack/localstack/pull/12199).
const binaryMediaTypes = [
  '*/*',
  ...'application audio font image message model multipart text video'.split(' ').map((type) => `${type}/*`),
]

export const createGateway = (
  scope: Construct,
  functions: Functions,
  dataCentre: DataCentreSettings,
  settings: Settings,
): apigateway.RestApi => {
  const parts = new Construct(scope, 'Gateway')
  const api = new apigateway.RestApi(parts, 'Api', {
    // The name of the API is also the name of its metrics. If two APIs of a region had the same name, their metrics
    // would be mixed.
    restApiName: Stack.of(scope).stackName,
    description: 'Site administration service',
    endpointTypes: [apigateway.EndpointType.REGIONAL],
    binaryMediaTypes,
    // An account has one role for the logs of gateways in each region. The role stays when this API is removed, because
    // other APIs may use the role.
    cloudWatchRole: true,
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      tracingEnabled: settings.tracing,
      throttlingRateLimit: settings.throttling.rate,
      throttlingBurstLimit: settings.throttling.burst,
      accessLogDestination: new apigateway.LogGroupLogDestination(createLogs(parts, 'AccessLogs')),
      accessLogFormat: apigateway.AccessLogFormat.custom(JSON.stringify(fields)),
      // Logs of executions contain query strings, and are written to a log group that never expires, so they are off.
      // The access log shows failures.
      loggingLevel: apigateway.MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      // Metrics by method are off, because nobody reads them and each costs money. Metrics of the whole API need no
      // setting.
      metricsEnabled: false,
    },
    // If the gateway has its own domain, it has no other address. The domain of a distribution does not belong to the
    // gateway.
    disableExecuteApiEndpoint: dataCentre.customDomain !== undefined && !dataCentre.streaming,
  })
  addGatewayResponses(api)
  addRoutes(api, functions)
  // A distribution has its own firewall. A firewall here would see only the addresses of the distribution.
  if (settings.webApplicationFirewall && !dataCentre.streaming) guardStage(parts, api, settings)
  return api
}
