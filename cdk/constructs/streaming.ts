import { Duration, Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { ICertificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  HttpVersion,
  type IOrigin,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { AaaaRecord, ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import { Construct, type IDependable } from 'constructs'
import { streaming } from '../../lib/config/streaming.ts'
import { prefixes } from '../../lib/contract/routes/routes.ts'
import { type DataCentreSettings, stageName } from '../config/settings.ts'
import { type CustomDomain, zoneOf } from './domain.ts'
import type { FunctionOptions } from './service-functions.ts'
import { createStreamFunction, type StreamFunction } from './web-function.ts'

/** The group whose requests and answers are as large as files are. */
const streamedGroup = 'storage'

const securely = { protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY, originSslProtocols: [OriginSslPolicy.TLS_V1_2] }

const gatewayOrigin = (api: RestApi): IOrigin => {
  const { region, urlSuffix } = Stack.of(api)
  const host = `${api.restApiId}.execute-api.${region}.${urlSuffix}`
  return new HttpOrigin(host, { ...securely, originPath: `/${stageName}` })
}

const functionOrigin = ({ lambda, secret }: StreamFunction): IOrigin =>
  new HttpOrigin(lambda.endpoint.domainName, {
    ...securely,
    readTimeout: Duration.seconds(streaming.longestWait),
    customHeaders: { [streaming.secretHeader]: secret.secretValue.unsafeUnwrap() },
  })

/**
 * Hands every request on as it came and every answer as it is: nothing is kept, as answers depend on who asks, and nothing is compressed, which would
 * make another answer of it, with a weaker tag.
 */
const passing = (origin: IOrigin): BehaviorOptions => ({
  origin,
  allowedMethods: AllowedMethods.ALLOW_ALL,
  cachePolicy: CachePolicy.CACHING_DISABLED,
  originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
  // What is sent in the clear holds a token: a redirect would come too late.
  viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
  compress: false,
})

/** Errors that CloudFront would remember for ten seconds unless told, whoever asks. */
const rememberedErrors = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

const recordsOf = (
  scope: Construct,
  customDomain: CustomDomain,
  distribution: Distribution,
): readonly IDependable[] => {
  const zone = zoneOf(scope, customDomain)
  if (!zone) return []
  const target = RecordTarget.fromAlias(new CloudFrontTarget(distribution))
  return [new ARecord(scope, 'Record', { zone, target }), new AaaaRecord(scope, 'Record6', { zone, target })]
}

/** What the distribution of a data centre takes from the edge stack. */
export interface Edge {
  readonly certificate?: ICertificate
  readonly webAclArn?: string
}

interface Options {
  readonly api: RestApi
  readonly dataCentre: DataCentreSettings
  readonly edge: Edge
  /** What the function needs. */
  readonly stream: FunctionOptions
}

/** Files as streams. */
export interface Streaming extends StreamFunction {
  /** The host of the data centre, when it has no domain of its own. */
  readonly host: string
  /** What must be there before callers are sent to it. */
  readonly entrance: readonly IDependable[]
}

/** The address of a data centre that streams: a distribution that sends requests for files to a function that streams, and all else to the gateway. */
export const createStreaming = (scope: Construct, { api, dataCentre, edge, stream }: Options): Streaming => {
  const parts = new Construct(scope, 'Streaming')
  const { customDomain, originSecret: number = 1 } = dataCentre
  const handled = createStreamFunction(parts, { ...stream, number })
  const toFunction = passing(functionOrigin(handled))
  const streamed = prefixes.filter(({ group }) => group === streamedGroup)
  const distribution = new Distribution(parts, 'Distribution', {
    comment: Stack.of(scope).stackName,
    defaultBehavior: passing(gatewayOrigin(api)),
    additionalBehaviors: Object.fromEntries(streamed.map(({ prefix }) => [`${prefix}/*`, toFunction])),
    errorResponses: rememberedErrors.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
    httpVersion: HttpVersion.HTTP2_AND_3,
    minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    ...(customDomain && { domainNames: [customDomain.domainName] }),
    ...(edge.certificate && { certificate: edge.certificate }),
    ...(edge.webAclArn && { webAclId: edge.webAclArn }),
  })
  // Where the gateway has its record without streaming: to turn that on changes the record, as there cannot be two.
  const records = customDomain ? recordsOf(new Construct(api, 'Entrance'), customDomain, distribution) : []
  return { ...handled, host: distribution.distributionDomainName, entrance: [distribution, ...records] }
}
