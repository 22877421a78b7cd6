import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  SystemLogLevel,
  WebFunction,
  WebFunctionAuthType,
  WebFunctionCode,
  WebFunctionRuntime,
} from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { streaming } from '../../lib/config/streaming.ts'
import { createLogs, type FunctionOptions, statementsOf, streamEnvironment } from './service-functions.ts'

export interface StreamFunction {
  readonly lambda: WebFunction
  readonly logs: ILogGroup
  readonly secret: Secret
}

// The function accepts this secret and the previous one, so that requests succeed while the distribution changes to the
// new one. AWS generates each once.
const originSecrets = (scope: Construct, number: number): readonly [Secret, ...Secret[]] => {
  const create = (index: number) =>
    new Secret(scope, `OriginSecret${index}`, {
      description: 'Proves to the Web Function that a request comes from the distribution',
      generateSecretString: { excludePunctuation: true, passwordLength: 48 },
      removalPolicy: RemovalPolicy.DESTROY,
    })
  return number > 1 ? [create(number), create(number - 1)] : [create(number)]
}

export const createStreamFunction = (
  scope: Construct,
  { number, ...options }: FunctionOptions & { readonly number: number },
): StreamFunction => {
  const { throttling } = options.settings
  const logs = createLogs(scope, 'Logs')
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logs.grantWrite(role)
  // Lambda writes requests from its own region to a second log group.
  createLogs(scope, 'LocalLogs', `${logs.logGroupName}.local`).grantWrite(role)
  for (const statement of statementsOf('storage', options.stores)) role.addToPolicy(statement)
  const secrets = originSecrets(scope, number)
  const lambda = new WebFunction(scope, 'Lambda', {
    revisionDescription: 'Files and folders of sites, streamed',
    runtime: WebFunctionRuntime.NODEJS_24_X,
    code: WebFunctionCode.fromAssetToManagedBucket(options.bundle),
    role,
    // CloudFormation inserts the secrets: the template does not contain them.
    environment: streamEnvironment(options, secrets.map(({ secretValue }) => secretValue.unsafeUnwrap()).join(',')),
    timeout: Duration.seconds(streaming.longestRequest),
    maxConcurrencyPerEnvironment: streaming.requestsAtOnce,
    logGroup: logs,
    // The function itself drops messages below its level.
    applicationLogLevel: ApplicationLogLevel.TRACE,
    // Only this level reports a failed start.
    systemLogLevel: SystemLogLevel.WARN,
    // It checks the secret of the distribution itself. IAM would require a digest of the whole body before its first
    // byte.
    defaultEndpointAuth: WebFunctionAuthType.APPLICATION_MANAGED,
    defaultEndpoint: { maxEnvironments: Math.max(2, Math.ceil(throttling.burst / streaming.requestsAtOnce)) },
  })
  Validations.of(lambda.endpoint).acknowledge({
    id: '@aws-cdk/aws-lambda:webFunctionPublicEndpoint',
    reason: 'The function refuses every request without the secret of the distribution, before it reads it.',
  })
  return { lambda, logs, secret: secrets[0] }
}
