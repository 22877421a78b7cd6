import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { TableName } from '../../lib/config/tables.ts'
import type { FileAccess, TableAccess } from '../config/grants.ts'

/** Allows actions on one resource. The names of the actions come without the prefix of their service. */
export const allow = (service: string, actions: readonly string[], resource: string): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `${service}:${action}`), resources: [resource] })

export const allowOnTables = (grants: readonly TableAccess[], arnOf: (table: TableName) => string) =>
  grants.map(({ table, index, keys, actions }) => {
    const statement = allow('dynamodb', actions, `${arnOf(table)}${index === undefined ? '' : `/index/${index}`}`)
    if (keys !== undefined) statement.addCondition('ForAllValues:StringLike', { 'dynamodb:LeadingKeys': [keys] })
    return statement
  })

export const allowOnFiles = ({ bucket, objects }: FileAccess, bucketArn: string): readonly PolicyStatement[] => [
  allow('s3', bucket, bucketArn),
  allow('s3', objects, `${bucketArn}/*`),
]
