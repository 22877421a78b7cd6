import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import { EndpointType, MethodLoggingLevel, RestApi } from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { Construct } from 'constructs'
import { type DataCentreSettings, type Settings, stageName } from '../settings.ts'
import { createAccessLogs } from './access-logs.ts'
import { createFirewall } from './firewall.ts'
import { addGatewayResponses } from './gateway-responses.ts'
import { addRoutes, type Functions } from './gateway-routes.ts'

interface Options {
  readonly functions: Functions
  readonly dataCentre: DataCentreSettings
  readonly settings: Settings
}

/** The domain of its own that a data centre may have. */
const domainOf = (scope: Construct, { customDomain }: DataCentreSettings) =>
  customDomain && {
    domainName: {
      domainName: customDomain.domainName,
      certificate: Certificate.fromCertificateArn(scope, 'Certificate', customDomain.certificateArn),
      endpointType: EndpointType.REGIONAL,
    },
  }

/** The REST API of a data centre, which hands every request to a function as it came. */
export const createGateway = (scope: Construct, { functions, dataCentre, settings }: Options): RestApi => {
  const parts = new Construct(scope, 'Gateway')
  const api = new RestApi(parts, 'Api', {
    // Its figures go by this name: an API of the same name in the region would be counted in.
    restApiName: Stack.of(scope).stackName,
    description: 'Site administration service',
    endpointTypes: [EndpointType.REGIONAL],
    // Every body passes as it is, both ways: uploads are binary whatever their content type says.
    binaryMediaTypes: ['*/*'],
    // The account's role for the logs of its gateways, which AWS has one of in each region. It outlives this API: others may use it.
    cloudWatchRole: true,
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName,
      throttlingRateLimit: settings.throttling.rate,
      throttlingBurstLimit: settings.throttling.burst,
      ...createAccessLogs(parts),
      // Logs of successful executions would hold query strings.
      loggingLevel: MethodLoggingLevel.ERROR,
      dataTraceEnabled: false,
      metricsEnabled: true,
    },
    ...domainOf(parts, dataCentre),
  })
  addGatewayResponses(api)
  addRoutes(api, functions)
  if (settings.webApplicationFirewall) createFirewall(parts, api)
  return api
}
