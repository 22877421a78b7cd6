import { CfnOutput, type Stack } from 'aws-cdk-lib'
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import type { TableName } from '../../lib/config/tables.ts'
import { administrationFileGrants, administrationGrants, keyActions } from '../config/grants.ts'
import type { Settings } from '../config/settings.ts'
import { allowKey } from './encryption.ts'
import { allow, allowOnFiles, allowOnTables } from './statements.ts'

/**
 * A policy that lets `site-admin --target aws` use these tables, and the outputs that name the tables. The
 * administrator of a data centre needs the policy of its stack and the policy of the directory stack.
 */
export const createAdministrationPolicy = (
  stack: Stack,
  settings: Settings,
  tables: readonly TableName[],
  arnsOf: (table: TableName) => readonly string[],
  { bucketArn, keyArn }: { readonly bucketArn?: string; readonly keyArn?: string | undefined } = {},
): ManagedPolicy => {
  const grants = administrationGrants.filter(({ table }) => tables.includes(table))
  const policy = new ManagedPolicy(stack, 'AdministrationPolicy', {
    description: `site-admin on the stack ${stack.stackName}`,
    statements: [
      ...allowOnTables(grants, arnsOf),
      ...(bucketArn === undefined ? [] : allowOnFiles(administrationFileGrants, bucketArn)),
      ...(keyArn === undefined ? [] : [allow('kms', keyActions, keyArn)]),
      ...allowKey(settings, stack.region, ['dynamodb', 's3']),
      allow('cloudformation', ['DescribeStacks'], stack.stackId),
    ],
  })
  new CfnOutput(stack, 'AdministrationPolicyArn', { key: 'AdministrationPolicy', value: policy.managedPolicyArn })
  return policy
}
