import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import type { Bucket } from 'aws-cdk-lib/aws-s3'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { TableName } from '../../lib/tables.ts'
import { type FunctionName, functionSettings } from '../functions.ts'
import { fileGrants, removalsGrants, tableGrants } from '../grants.ts'
import { functionName, tableVariable } from '../naming.ts'
import { homeRegion, type Settings } from '../settings.ts'
import { createServiceFunction } from './service-function.ts'
import type { Tables } from './tables.ts'

interface Options {
  readonly bundle: string
  /** The id of the data centre. */
  readonly dataCentre: string
  readonly settings: Settings
  readonly stores: Stores
}

/** Everything that functions keep something in. */
interface Stores {
  readonly tables: Tables
  readonly files: Bucket
  readonly removals: Queue
}

/** What of a file fits into the 6 MB of a function's event, in base64 and with the rest of the request, in bytes. */
const largestFile = 4_500_000

const statementsOf = (name: FunctionName, { tables, files, removals }: Stores): PolicyStatement[] => {
  const allow = (service: string, actions: readonly string[], resource: string) =>
    new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources: [resource] })
  const { bucket = [], objects = [] } = fileGrants[name] ?? {}
  return [
    ...tableGrants[name].map(({ table, index, actions }) =>
      allow('dynamodb', actions, `${tables[table].tableArn}${index === undefined ? '' : `/index/${index}`}`),
    ),
    allow('s3', bucket, files.bucketArn),
    allow('s3', objects, files.arnForObjects('*')),
    allow('sqs', removalsGrants[name] ?? [], removals.queueArn),
  ].filter(({ actions }) => actions.length > 0)
}

const environmentOf = ({ dataCentre, settings, stores: { tables, files, removals } }: Options) => ({
  DATA_CENTRE: dataCentre,
  PATH_ENCODING: settings.pathEncoding,
  ...(!settings.replicateDirectory && { DIRECTORY_REGION: homeRegion(settings) }),
  ...Object.fromEntries(
    Object.entries(tables).map(([name, { tableName }]) => [tableVariable(name as TableName), tableName]),
  ),
  FILES_BUCKET: files.bucketName,
  REMOVALS_QUEUE_URL: removals.queueUrl,
  LARGEST_FILE: String(largestFile),
})

/** A function of the service. All know the names of all stores; what each may do with them, its grants say. */
export const createGrantedFunction = (scope: Construct, name: FunctionName, options: Options): LambdaFunction => {
  const lambda = createServiceFunction(scope, functionName(name), {
    ...functionSettings[name],
    bundle: options.bundle,
    environment: environmentOf(options),
  })
  for (const statement of statementsOf(name, options.stores)) lambda.addToRolePolicy(statement)
  return lambda
}
