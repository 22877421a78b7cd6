import { CfnOutput, DefaultStackSynthesizer, Duration, type Stack } from 'aws-cdk-lib'
import { ManagedPolicy, Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam'
import type { TableName } from '../../lib/config/tables.ts'
import { administrationGrants, allow, allowKeys, allowOnFiles, allowOnTables, keyActions } from '../config/grants.ts'
import { type Settings, stackRegions } from '../config/settings.ts'

// In characters. IAM refuses a longer policy, but only during the deployment.
const longestPolicy = 6_144

const anyId = '12345678-1234-1234-1234-123456789012'

const lengthFaults = (stack: Stack, { document }: ManagedPolicy): string[] => {
  const values: Readonly<Record<string, string>> = {
    'AWS::Partition': 'aws',
    'AWS::AccountId': '123456789012',
  }
  const text = stack.resolve(stack.toJsonString(document))
  const parts: readonly (string | { readonly Ref?: string })[] = text['Fn::Join'][1]
  const { length } = parts.map((part) => (typeof part === 'string' ? part : (values[part.Ref ?? ''] ?? anyId))).join('')
  if (length <= longestPolicy) return []
  return [
    `The policy for administrators would have ${length} characters, but IAM allows ${longestPolicy}. Use data ` +
      'centres in fewer regions or, before the first deployment, a shorter prefix.',
  ]
}

// An account can have only one provider for GitHub, and other apps may use it, so this app does not create it.
const issuer = 'token.actions.githubusercontent.com'

const bootstrapRoles = ['deploy-role', 'file-publishing-role', 'lookup-role']

const describing = (stack: Stack, region: string, name: string) => {
  const arn = stack.formatArn({ service: 'cloudformation', region, resource: 'stack', resourceName: `${name}/*` })
  return allow('cloudformation', ['DescribeStacks'], arn)
}

/**
 * A role for jobs of one GitHub environment. Its only rights are to assume the roles of `cdk bootstrap` in the regions
 * of this app, and to read which alarms watch a data centre.
 */
export const createDeploymentRole = (stack: Stack, settings: Settings): readonly Role[] => {
  if (!settings.deploymentRole) return []
  const { repository, environment } = settings.deploymentRole
  const identity = (resource: string, resourceName: string) =>
    stack.formatArn({ service: 'iam', region: '', resource, resourceName })
  const qualifier = stack.synthesizer.bootstrapQualifier ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER

  const role = new Role(stack, 'DeploymentRole', {
    description: `Deploys from ${repository}`,
    maxSessionDuration: Duration.hours(12),
    assumedBy: new WebIdentityPrincipal(identity('oidc-provider', issuer), {
      StringEquals: {
        [`${issuer}:aud`]: 'sts.amazonaws.com',
        [`${issuer}:sub`]: `repo:${repository}:environment:${environment}`,
      },
    }),
  })
  for (const region of stackRegions(settings)) {
    for (const name of bootstrapRoles) {
      const arn = identity('role', `cdk-${qualifier}-${name}-${stack.account}-${region}`)
      role.addToPolicy(allow('sts', ['AssumeRole'], arn))
    }
  }
  for (const [id, { region }] of Object.entries(settings.dataCentres))
    role.addToPolicy(describing(stack, region, `${settings.prefix}-${id}`))
  new CfnOutput(stack, 'DeploymentRoleArn', { key: 'DeploymentRole', value: role.roleArn })
  return [role]
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
  const grants = administrationGrants.tables.filter(({ table }) => tables.includes(table))
  const policy = new ManagedPolicy(stack, 'AdministrationPolicy', {
    description: `site-admin on the stack ${stack.stackName}`,
    statements: [
      ...allowOnTables(grants, arnsOf),
      ...(bucketArn === undefined ? [] : allowOnFiles(administrationGrants.files, bucketArn)),
      ...(keyArn === undefined ? [] : [allow('kms', keyActions, keyArn)]),
      ...allowKeys(settings, [stack.region], ['dynamodb', 's3']),
      describing(stack, stack.region, stack.stackName),
    ],
  })
  policy.node.addValidation({ validate: () => lengthFaults(stack, policy) })
  new CfnOutput(stack, 'AdministrationPolicyArn', { key: 'AdministrationPolicy', value: policy.managedPolicyArn })
  return policy
}
