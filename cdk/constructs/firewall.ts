import { Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { streaming } from '../../lib/config/functions.ts'
import { errors } from '../../lib/core/errors.ts'
import { edgeRegion, type Settings } from '../config/settings.ts'

const windowSeconds = 60

const ruleLabels = { Reputation: 'bad repute', Floods: 'floods', Tokens: 'busy tokens' }

export const blockedRequests = (stack: Stack, isDistributed: boolean): readonly Metric[] =>
  Object.entries(ruleLabels).map(
    ([Rule, label]) =>
      new Metric({
        namespace: 'AWS/WAFV2',
        metricName: 'BlockedRequests',
        dimensionsMap: { WebACL: stack.stackName, ...(!isDistributed && { Region: stack.region }), Rule },
        ...(isDistributed && { region: edgeRegion }),
        statistic: 'Sum',
        label,
      }),
  )

const visible = (name: string): CfnWebACL.VisibilityConfigProperty => ({
  cloudWatchMetricsEnabled: true,
  metricName: name,
  // Samples of requests would contain tokens, so they are off.
  sampledRequestsEnabled: false,
})

const busy = 'busy'
const { code, message } = errors.tooManyRequests
const tooManyRequests = { code, message, requestId: '' }

const rule = (
  name: string,
  priority: number,
  effect: Pick<CfnWebACL.RuleProperty, 'action' | 'overrideAction' | 'statement'>,
): CfnWebACL.RuleProperty => ({ name, priority, ...effect, visibilityConfig: visible(name) })

const unchanged = [{ priority: 0, type: 'NONE' }]

// Applies the limit of O-22 to a whole data centre.
const tokenRule = (perToken: number): CfnWebACL.RuleProperty => {
  const customResponse = {
    responseCode: errors.tooManyRequests.status,
    customResponseBodyKey: busy,
    // A value can have at most 255 characters, which `corsHeaders` would exceed.
    responseHeaders: [
      { name: 'Retry-After', value: String(windowSeconds) },
      { name: 'Access-Control-Allow-Origin', value: '*' },
      { name: 'Access-Control-Expose-Headers', value: 'Retry-After' },
    ],
  }
  const rateBasedStatement = {
    aggregateKeyType: 'CUSTOM_KEYS',
    customKeys: [{ header: { name: 'authorization', textTransformations: unchanged } }],
    evaluationWindowSec: windowSeconds,
    limit: Math.max(10, perToken * windowSeconds),
  }
  return rule('Tokens', 2, { action: { block: { customResponse } }, statement: { rateBasedStatement } })
}

/**
 * Blocks addresses with a bad reputation, floods from one address, and tokens that send too many requests. Bodies are
 * not inspected, because files may contain anything. `name` is the metric name.
 */
export const createFirewall = (
  scope: Construct,
  kind: 'REGIONAL' | 'CLOUDFRONT',
  name: string,
  { requestLimits: { perToken } }: Settings,
): CfnWebACL =>
  new CfnWebACL(scope, 'Firewall', {
    scope: kind,
    defaultAction: { allow: {} },
    visibilityConfig: visible(name),
    customResponseBodies: { [busy]: { contentType: 'APPLICATION_JSON', content: JSON.stringify(tooManyRequests) } },
    rules: [
      rule('Reputation', 0, {
        overrideAction: { none: {} },
        statement: { managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' } },
      }),
      rule('Floods', 1, {
        action: { block: {} },
        statement: { rateBasedStatement: { aggregateKeyType: 'IP', limit: 10_000 } },
      }),
      ...(perToken > 0 ? [tokenRule(perToken)] : []),
    ],
  })

const associate = (api: RestApi, acl: CfnWebACL, scope: Construct = api): void => {
  const resourceArn = api.deploymentStage.stageArn
  new CfnWebACLAssociation(scope, 'FirewallAssociation', { resourceArn, webAclArn: acl.attrArn })
}

const withSecret = (secret: Secret): CfnWebACL.StatementProperty => ({
  byteMatchStatement: {
    fieldToMatch: { singleHeader: { Name: streaming.secretHeader } },
    positionalConstraint: 'EXACTLY',
    searchString: secret.secretValue.unsafeUnwrap(),
    textTransformations: unchanged,
  },
})

/**
 * Refuses requests to the gateway that have not passed the firewall of the distribution. The distribution sends one of
 * the secrets with each request, so it must change after the returned firewall.
 */
export const admitDistribution = (api: RestApi, secrets: readonly [Secret, ...Secret[]]): CfnWebACL => {
  const acl = new CfnWebACL(api, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { block: {} },
    visibilityConfig: visible(`${Stack.of(api).stackName}-gateway`),
    rules: [
      rule('Distribution', 0, {
        action: { allow: {} },
        statement:
          secrets.length > 1 ? { orStatement: { statements: secrets.map(withSecret) } } : withSecret(secrets[0]),
      }),
    ],
  })
  associate(api, acl)
  return acl
}

export const guardStage = (scope: Construct, api: RestApi, settings: Settings): void =>
  associate(api, createFirewall(scope, 'REGIONAL', Stack.of(scope).stackName, settings), scope)
