import { CfnOutput, DefaultStackSynthesizer, type Stack } from 'aws-cdk-lib'
import { Role, WebIdentityPrincipal } from 'aws-cdk-lib/aws-iam'
import { type Settings, stackRegions } from '../config/settings.ts'
import { allow } from './statements.ts'

// An account can have only one provider for GitHub, and other apps may use it, so this app does not create it.
const issuer = 'token.actions.githubusercontent.com'

const bootstrapRoles = ['deploy-role', 'file-publishing-role', 'lookup-role']

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
  for (const [id, { region }] of Object.entries(settings.dataCentres)) {
    const resourceName = `${settings.prefix}-${id}/*`
    const arn = stack.formatArn({ service: 'cloudformation', region, resource: 'stack', resourceName })
    role.addToPolicy(allow('cloudformation', ['DescribeStacks'], arn))
  }
  new CfnOutput(stack, 'DeploymentRoleArn', { key: 'DeploymentRole', value: role.roleArn })
  return [role]
}
