import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'

/** What one address may send in five minutes. */
const requestsPerAddress = 10_000

const visible = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  // Samples of requests would hold tokens.
  sampledRequestsEnabled: false,
})

/**
 * Keeps addresses of bad repute and floods from one address away. Nothing looks into bodies: files and texts may hold
 * anything that their owners like.
 */
export const createFirewall = (scope: Construct, api: RestApi): void => {
  const acl = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visible('Firewall'),
    rules: [
      {
        name: 'Reputation',
        priority: 0,
        overrideAction: { none: {} },
        statement: { managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' } },
        visibilityConfig: visible('Reputation'),
      },
      {
        name: 'Floods',
        priority: 1,
        action: { block: {} },
        statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: requestsPerAddress } },
        visibilityConfig: visible('Floods'),
      },
    ],
  })
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  })
}
