import { type Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'

interface Options {
  /** The folder with the bundle; `index.mjs` in it exports `handler`. */
  readonly bundle: string
  readonly description: string
  readonly environment: Readonly<Record<string, string>>
  /** In MB. */
  readonly memorySize: number
  readonly timeout: Duration
}

/**
 * A Lambda function of the house: Node 24 on arm64, structured logs in a log group of its own, which is all that it may
 * touch until it is granted more. No tracing: its metrics go out with its logs, and no request waits for them.
 */
export const createServiceFunction = (
  scope: Construct,
  id: string,
  { bundle, description, environment, memorySize, timeout }: Options,
): LambdaFunction => {
  const parts = new Construct(scope, id)
  const logGroup = new LogGroup(parts, 'Logs', {
    retention: RetentionDays.ONE_MONTH,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const role = new Role(parts, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grantWrite(role)
  return new LambdaFunction(parts, 'Lambda', {
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    code: Code.fromAsset(bundle),
    handler: 'index.handler',
    role,
    description,
    environment: { ...environment },
    memorySize,
    timeout,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
    applicationLogLevelV2: ApplicationLogLevel.INFO,
    systemLogLevelV2: SystemLogLevel.WARN,
  })
}
