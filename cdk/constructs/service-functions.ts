import { CfnResource, RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { CfnLogGroup, LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { type AllSettings, settingsOf } from '../../lib/config/config.ts'
import { streaming } from '../../lib/config/functions.ts'
import { environmentOf, type SettingTexts } from '../../lib/config/settings.ts'
import { tableNames, tableSettings } from '../../lib/config/tables.ts'
import { type FunctionName, type FunctionSettings, functionName, functionSettings } from '../config/functions.ts'
import { allow, allowKeys, allowOnFiles, allowOnTables, functionGrants, keyActions } from '../config/grants.ts'
import { homeRegion, nearestDirectory, type Settings } from '../config/settings.ts'
import type { Tables } from './stores.ts'

export const createLogs = (scope: Construct, id: string, logGroupName?: string): LogGroup =>
  new LogGroup(scope, id, { ...(logGroupName !== undefined && { logGroupName }), removalPolicy: RemovalPolicy.DESTROY })

/**
 * Keeps every log of a stack for `days`. Functions that the CDK adds have no log group of their own, so their logs are
 * included here.
 */
export const keepLogs = (stack: Stack, days: number): void => {
  for (const resource of stack.node.findAll()) {
    if (!CfnResource.isCfnResource(resource) || resource.cfnResourceType !== 'AWS::Lambda::Function') continue
    if (resource instanceof awsLambda.CfnFunction && resource.loggingConfig !== undefined) continue
    const { logGroupName } = createLogs(resource, 'Logs')
    resource.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName })
  }
  for (const resource of stack.node.findAll()) if (CfnLogGroup.isCfnLogGroup(resource)) resource.retentionInDays = days
}

interface LambdaOptions extends FunctionSettings {
  readonly bundle: string
  readonly environment: Record<string, string>
  readonly settings: Pick<Settings, 'logLevel' | 'tracing'>
  readonly reserved?: number | undefined
  readonly statements?: readonly PolicyStatement[]
}

/**
 * A Lambda function with Node 24 on arm64. Its structured logs are in its own log group. The function may only write
 * these logs. The dashboard computes the figures of requests from the logs, so they need no custom metrics. Tracing is
 * off by default.
 */
export const createServiceFunction = (
  scope: Construct,
  id: string,
  { bundle, settings, reserved, invokesItself = false, statements = [], ...options }: LambdaOptions,
): awsLambda.Function => {
  const parts = new Construct(scope, id)
  const logGroup = createLogs(parts, 'Logs')
  const role = new Role(parts, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
  logGroup.grantWrite(role)
  const lambda = new awsLambda.Function(parts, 'Lambda', {
    ...options,
    runtime: awsLambda.Runtime.NODEJS_24_X,
    architecture: awsLambda.Architecture.ARM_64,
    code: awsLambda.Code.fromAsset(bundle),
    handler: 'index.handler',
    role,
    ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
    ...(settings.tracing && { tracing: awsLambda.Tracing.ACTIVE }),
    ...(invokesItself && { recursiveLoop: awsLambda.RecursiveLoop.ALLOW }),
    logGroup,
    loggingFormat: awsLambda.LoggingFormat.JSON,
    applicationLogLevelV2: awsLambda.ApplicationLogLevel[settings.logLevel],
    systemLogLevelV2: awsLambda.SystemLogLevel.WARN,
  })
  for (const statement of statements) lambda.addToRolePolicy(statement)
  return lambda
}

export interface FunctionOptions {
  readonly bundle: string
  readonly dataCentre: string
  readonly settings: Settings
  readonly stores: {
    readonly tables: Tables
    readonly files: Bucket
    readonly removals: Queue
    readonly webhooks: { readonly queue: Queue; readonly key: IKey } | undefined
  }
}

// In bytes: the part of a file that fits into an event of 6 MB, in base64, together with the rest of the request.
const largestFile = 4_500_000

// the parameter with the client secrets. An operator creates it, and no other function may read it.
const clientSecretsOf = ({ prefix }: Settings): string => `/${prefix}/client-secrets`

const onClientSecrets = (settings: Settings, stack: Stack): PolicyStatement => {
  const resourceName = clientSecretsOf(settings).slice(1)
  return allow('ssm', ['GetParameter'], stack.formatArn({ service: 'ssm', resource: 'parameter', resourceName }))
}

export const statementsOf = (
  name: FunctionName,
  { settings, stores: { tables, files, removals, webhooks } }: FunctionOptions,
): PolicyStatement[] => {
  const granted = functionGrants[name]
  const { region } = files.stack
  const queue = granted.queue && { removals, webhooks: webhooks?.queue }[granted.queue.name]
  const toQueue = granted.queue ? (['sqs'] as const) : []
  const toFiles = granted.files ? (['s3'] as const) : []
  const writes = [...(granted.files?.includes('PutObject') ? toFiles : []), ...toQueue]
  const services = ['dynamodb', ...toFiles, ...toQueue, ...(name === 'access' ? (['ssm'] as const) : [])] as const
  return [
    ...allowOnTables(granted.tables, (table) => [tables[table].tableArn]),
    ...allowOnFiles(granted.files ?? [], files.bucketArn),
    ...(queue && granted.queue ? [allow('sqs', granted.queue.actions, queue.queueArn)] : []),
    ...(name === 'webhooks' && webhooks ? [allow('kms', keyActions, webhooks.key.keyArn)] : []),
    ...(name === 'access' ? [onClientSecrets(settings, files.stack)] : []),
    ...allowKeys(settings, [...new Set([region, nearestDirectory(settings, region)])], services),
    ...(writes.length > 0 ? allowKeys(settings, [region], writes, ['GenerateDataKey']) : []),
  ]
}

const textsOf = ({
  dataCentre,
  settings,
  stores: { tables, files, removals, webhooks },
}: FunctionOptions): SettingTexts<AllSettings> => ({
  dataCentre,
  logLevel: settings.logLevel,
  pathEncoding: settings.pathEncoding,
  binaryAccept: settings.binaryAccept,
  directoryRegion: settings.replicateDirectory ? undefined : homeRegion(settings),
  dataCentres: Object.keys(settings.dataCentres).join(),
  downloadsUrl: settings.emulatorEndpoint ?? `https://${files.bucketRegionalDomainName}`,
  keptDays: String(settings.keptDays),
  requestsPerToken: String(settings.requestLimits.perToken),
  requestsPerSite: String(settings.requestLimits.perSite),
  ...tableSettings(tableNames, (name) => tables[name].tableName),
  filesBucket: files.bucketName,
  filesKey: settings.encryptionKeys?.[files.stack.region],
  removalsQueueUrl: removals.queueUrl,
  webhooksQueueUrl: webhooks?.queue.queueUrl ?? '',
  webhooksKey: webhooks?.key.keyArn ?? '',
  clientSecretsParameter: clientSecretsOf(settings),
})

/** The environment of the streaming function, which accepts files as large as on one machine. */
export const streamEnvironment = (options: FunctionOptions, originSecrets: string): Record<string, string> => ({
  ...environmentOf(settingsOf.stream, { ...textsOf(options), originSecrets }),
  NODE_OPTIONS: streaming.nodeOptions,
})

export const createGrantedFunction = (scope: Construct, name: FunctionName, options: FunctionOptions) => {
  const texts = { ...textsOf(options), largestFile: String(largestFile) }
  return createServiceFunction(scope, functionName(name), {
    ...functionSettings[name],
    bundle: options.bundle,
    environment: environmentOf(settingsOf[name], texts),
    settings: options.settings,
    reserved: options.settings.reservedConcurrency[name],
    statements: statementsOf(name, options),
  })
}
