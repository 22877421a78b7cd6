import { Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { edgeRegion } from '../config/settings.ts'

/** What the rules keep away, by the names under which they are counted. */
const ruleLabels = { Reputation: 'bad repute', Floods: 'floods' }

/** What a firewall is counted under: one of the same name in the region would be counted in. */
const metricName = ({ stackName }: Stack): string => stackName

/** What the firewall of a data centre turned away, for each of its rules: at the gateway, or at the distribution. */
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

/** What one address may send in five minutes. */
const requestsPerAddress = 10_000

const visible = (name: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName: name,
  // Samples of requests would hold tokens.
  sampledRequestsEnabled: false,
})

/**
 * Keeps addresses of bad repute and floods from one address away. Nothing looks into bodies: files and texts may hold
 * anything that their owners like. `name` is what it is counted under.
 */
export const createFirewall = (
  scope: Construct,
  id: string,
  kind: 'REGIONAL' | 'CLOUDFRONT',
  name: string,
): CfnWebACL =>
  new CfnWebACL(scope, id, {
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
        statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: requestsPerAddress } },
        visibilityConfig: visible('Floods'),
      },
    ],
  })

/** Puts a firewall in front of a gateway. */
export const guardStage = (scope: Construct, api: RestApi): void => {
  const acl = createFirewall(scope, 'Firewall', 'REGIONAL', metricName(Stack.of(scope)))
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  })
}
