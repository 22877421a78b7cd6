import { CustomResource, Duration, FileSystem, SecretValue, Stack } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as Target } from 'aws-cdk-lib/aws-events-targets'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { settingsOf } from '../../lib/config/config.ts'
import { environmentOf } from '../../lib/config/settings.ts'
import { allowKeys, allowOnTables } from '../config/grants.ts'
import { nearestDirectory, type Settings } from '../config/settings.ts'
import { createServiceFunction } from './service-functions.ts'

/**
 * Runs a function at an interval. A failed run is not repeated, because the next one is soon: repeated failures would
 * set off an alarm that waits for two failed runs.
 */
export const runRegularly = (scope: Construct, id: string, lambda: awsLambda.IFunction, every: Duration): void => {
  // EventBridge repeats a call that Lambda did not accept. Lambda itself repeats a run that failed.
  const retryAttempts = 0
  lambda.configureAsyncInvoke({ retryAttempts })
  new Rule(scope, id, { schedule: Schedule.rate(every), targets: [new Target(lambda, { retryAttempts })] })
}

export const safeQueue = {
  encryption: QueueEncryption.SQS_MANAGED,
  enforceSSL: true,
  retentionPeriod: Duration.days(14),
} as const

export const createWorkQueue = (parts: Construct, longestWork: Duration) => {
  const failed = new Queue(parts, 'Failed', safeQueue)
  const queue = new Queue(parts, 'Queue', {
    ...safeQueue,
    // The queue delivers a message again after six times the longest work of a worker, as AWS advises. By then the
    // worker has ended, even if Lambda took long to start it.
    visibilityTimeout: Duration.seconds(longestWork.toSeconds() * 6),
    deadLetterQueue: { queue: failed, maxReceiveCount: 5 },
  })
  return { queue, failed }
}

export type WorkQueue = ReturnType<typeof createWorkQueue>

// A recount takes several steps, and the quota of an existing site applies only after the first recount. Two failed runs
// set off a rollback alarm within the 15 minutes of a watched deployment.
export const recountEvery = Duration.minutes(5)

type Consumption = Pick<awsLambda.EventSourceMappingProps, 'batchSize' | 'maxConcurrency' | 'reportBatchItemFailures'>

export const consumeQueue = (queue: Queue, target: awsLambda.IFunction, consumption: Consumption) =>
  new awsLambda.EventSourceMapping(queue, 'Worker', { target, eventSourceArn: queue.queueArn, ...consumption })

/** Uses the service every five minutes as a caller does, with its own token. On AWS, it may only write its log. */
export const createCanary = (
  scope: Construct,
  bundle: string,
  baseUrl: string,
  settings: Settings,
): awsLambda.Function => {
  // An operator must store the token in this secret before the deployment.
  const secret = SecretValue.secretsManager(`${Stack.of(scope).stackName}-canary`)
  const lambda = createServiceFunction(scope, 'CanaryFunction', {
    bundle,
    description: 'Uses the service as a caller does, and fails when the service fails',
    environment: environmentOf(settingsOf.canary, { baseUrl, canaryToken: secret.unsafeUnwrap() }),
    memorySize: 256,
    timeout: Duration.minutes(2),
    settings: { ...settings, logLevel: 'INFO' },
  })
  runRegularly(lambda, 'Schedule', lambda, Duration.minutes(5))
  return lambda
}

export const registerDataCentre = (
  scope: Construct,
  settings: Settings,
  bundle: string,
  directory: ITable,
  { id, url }: { readonly id: string; readonly url: string },
): CustomResource => {
  const { region } = Stack.of(scope)
  const directoryRegion = nearestDirectory(settings, region)
  const lambda = createServiceFunction(scope, 'RegistrationFunction', {
    bundle,
    description: 'Writes the base URL of the data centre into the directory',
    environment: environmentOf(settingsOf.registration, { sitesTable: directory.tableName, directoryRegion }),
    memorySize: 256,
    timeout: Duration.seconds(30),
    settings: { ...settings, logLevel: 'INFO' },
    statements: [
      ...allowKeys(settings, [directoryRegion], ['dynamodb']),
      ...allowOnTables([{ table: 'sites', keys: `dc#${id}`, actions: ['PutItem'] }], () => [directory.tableArn]),
    ],
  })
  // CloudFormation cannot change the type of a resource, so a resource of another type needs another name.
  return new CustomResource(scope, 'DataCentreRegistration', {
    resourceType: 'Custom::DataCentre',
    serviceToken: lambda.functionArn,
    // Lambda tries a failing function three times, with pauses of one and two minutes. Each try may take the whole time
    // of the function.
    serviceTimeout: Duration.minutes(5),
    // The function runs whenever its code changes. Otherwise a broken function would first fail in a later rollback.
    properties: { id, url, region, isDefault: id === settings.defaultDataCentre, code: FileSystem.fingerprint(bundle) },
  })
}
