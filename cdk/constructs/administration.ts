import { CfnOutput, type Stack } from 'aws-cdk-lib'
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import type { TableName } from '../../lib/config/tables.ts'
import { administrationFileGrants, administrationGrants, keyActions } from '../config/grants.ts'
import type { Settings } from '../config/settings.ts'
import { allowKeys } from './encryption.ts'
import { allow, allowOnFiles, allowOnTables } from './statements.ts'

// In characters. IAM refuses a longer policy, but only during the deployment.
const longestPolicy = 6_144

const anyId = '12345678-1234-1234-1234-123456789012'

/** Fills in the values of CloudFormation that count towards the length of a policy. */
const filledIn = ({ stackName, region }: Stack) => {
  const values: Readonly<Record<string, string>> = {
    'AWS::Partition': 'aws',
    'AWS::AccountId': '123456789012',
    'AWS::StackId': `arn:aws:cloudformation:${region}:123456789012:stack/${stackName}/${anyId}`,
  }
  const fillIn = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if ('Ref' in value) return values[String(value.Ref)] ?? anyId
    if ('Fn::Join' in value) return (value['Fn::Join'] as [string, unknown[]])[1].map(fillIn).join('')
    return value
  }
  return (_: string, value: unknown) => fillIn(value)
}

const lengthFaults = (stack: Stack, { document }: ManagedPolicy): string[] => {
  const { length } = JSON.stringify(stack.resolve(document), filledIn(stack))
  if (length <= longestPolicy) return []
  return [
    `The policy for administrators would have ${length} characters, but IAM allows ${longestPolicy}. Use data ` +
      'centres in fewer regions or, before the first deployment, a shorter prefix.',
  ]
}

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
      ...allowKeys(settings, [stack.region], ['dynamodb', 's3']),
      allow('cloudformation', ['DescribeStacks'], stack.stackId),
    ],
  })
  policy.node.addValidation({ validate: () => lengthFaults(stack, policy) })
  new CfnOutput(stack, 'AdministrationPolicyArn', { key: 'AdministrationPolicy', value: policy.managedPolicyArn })
  return policy
}
