import { Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { edgeRegion } from '../config/settings.ts'

const ruleLabels = { Reputation: 'bad repute', Floods: 'floods' }

// Firewalls of the same name in a region would share their metrics.
const metricName = ({ stackName }: Stack): string => stackName

export const turnedAway = (stack: Stack, isDistributed: boolean): readonly Metric[] =>
  Object.entries(ruleLabels).map(
    ([Rule, label]) =>
      new Metric({
        namespace: 'AWS/WAFV2',
        metricName: 'BlockedRequests',
        dimensionsMap: { WebACL: metricName(stack), ...(!isDistributed && { Region: stack.region }), Rule },
        ...(isDistributed && { region: edgeRegion }),
        statistic: 'Sum',
        label,
      }),
  )

const visible = (name: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName: name,
  // Samples of requests would contain tokens.
  sampledRequestsEnabled: false,
})

/**
 * Blocks addresses with a bad reputation and floods from one address. Bodies are not inspected: files may contain
 * anything. `name` is the metric name.
 */
export const createFirewall = (scope: Construct, kind: 'REGIONAL' | 'CLOUDFRONT', name: string): CfnWebACL =>
  new CfnWebACL(scope, 'Firewall', {
    scope: kind,
    defaultAction: { allow: {} },
    visibilityConfig: visible(name),
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
        statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: 10_000 } },
        visibilityConfig: visible('Floods'),
      },
    ],
  })

export const guardStage = (scope: Construct, api: RestApi): void => {
  const acl = createFirewall(scope, 'REGIONAL', metricName(Stack.of(scope)))
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  })
}
