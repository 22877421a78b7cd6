import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { TableName } from '../../lib/config/tables.ts'
import type { FileAccess, TableAccess } from '../config/grants.ts'

/** Allows actions on resources. The names of the actions come without the prefix of their service. */
export const allow = (service: string, actions: readonly string[], ...resources: string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources })

/** A table with replicas has an ARN in each region. */
export const allowOnTables = (grants: readonly TableAccess[], arnsOf: (table: TableName) => readonly string[]) =>
  grants.map(({ table, index, keys, actions }) => {
    const arns = arnsOf(table).map((arn) => `${arn}${index === undefined ? '' : `/index/${index}`}`)
    const statement = allow('dynamodb', actions, ...arns)
    if (keys !== undefined) statement.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': [keys] })
    return statement
  })

export const allowOnFiles = ({ bucket, objects }: FileAccess, bucketArn: string): readonly PolicyStatement[] => [
  allow('s3', bucket, bucketArn),
  allow('s3', objects, `${bucketArn}/*`),
]
