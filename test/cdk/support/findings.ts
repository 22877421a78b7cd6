import { type App, CfnResource, Stack, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { IConstruct } from 'constructs'
import { homeRegion, readSettings, type Settings } from '../../../cdk/config/settings.ts'
import { globalTableName, globalTables } from '../../../lib/config/tables.ts'

export type Findings = Readonly<Record<string, string>>

// Accepted findings of the rule pack, with the reasons. Any other finding stops the synthesis.
const accepted: Findings = {
  'AwsSolutions-APIG2':
    'The functions check every request against schemas, and answer with the errors of the contract.',
  'AwsSolutions-APIG3': 'A firewall costs money per request. Installations turn it on with webApplicationFirewall.',
  'AwsSolutions-APIG6':
    'Execution logs contain query strings, which may contain a token. The access log shows the reason of a failure.',
  'AwsSolutions-APIG4': 'The functions check the token of every request, in the order that the contract requires.',
  'AwsSolutions-COG4': 'The callers are programs with tokens of the service, so there is no user pool.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    "API Gateway requires this policy in the account's role for logs.",
  'AwsSolutions-SQS3': 'This is the dead-letter queue of the pipe of change events, which the rule does not recognise.',
  'AwsSolutions-S1':
    'The gateway logs the requests for files. Logs of the bucket would contain the signatures of download URLs.',
  'AwsSolutions-IAM5[Resource::<FilesBucket16450113.Arn>/*]':
    'The objects of the bucket are the files of sites, whose names are not known in advance.',
}

const account = () => process.env['CDK_DEFAULT_ACCOUNT'] || '<AWS::AccountId>'

const acceptedWithStreaming = (region: string, { webApplicationFirewall }: Settings): Findings => ({
  'AwsSolutions-CFR1': 'A token may be used from any country.',
  ...(!webApplicationFirewall && {
    'AwsSolutions-CFR2': 'A firewall costs money per request. Installations turn it on with webApplicationFirewall.',
  }),
  'AwsSolutions-CFR3':
    'The rule knows only the older logs, which contain query strings. The monitoring stack logs every ' +
    'request without its query string.',
  'AwsSolutions-CFR4':
    'A distribution without its own domain has the certificate of CloudFront, which sets the TLS version.',
  'AwsSolutions-SMG4':
    'Changing originSecret changes this secret, because the distribution must be deployed with the new secret.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
    'The CDK gives this policy to its own function, which copies code during a deployment.',
  ...Object.fromEntries(
    [
      'Action::s3:Abort*',
      'Action::s3:DeleteObject*',
      'Resource::<AWSCDKWebFunctionAssetBucket5B596593.Arn>/web-function/*',
      `Resource::arn:<AWS::Partition>:s3:::cdk-hnb659fds-assets-${account()}-${region}/*`,
    ].map((what) => [
      `AwsSolutions-IAM5[${what}]`,
      'The CDK grants this to its own function, which copies code during a deployment.',
    ]),
  ),
})

/** The policy of AWS Backup has wildcards where the documentation of AWS has them. */
const acceptedWithBackup = (app: App, { prefix, dataCentres, ...settings }: Settings): Findings => {
  const isOwn = (node: IConstruct): node is CfnResource =>
    CfnResource.isCfnResource(node) &&
    node.cfnResourceType === 'AWS::DynamoDB::GlobalTable' &&
    Stack.of(node).stackName !== `${prefix}-directory`
  const home = homeRegion({ prefix, dataCentres, ...settings })
  const arnIn = (service: string, region: string, name: string) =>
    `arn:<AWS::Partition>:${service}:${region}:${account()}:${name}`
  const resources = [
    '*',
    arnIn('backup', '*', 'recovery-point:*'),
    ...Object.values(dataCentres).map(({ region }) => arnIn('events', region, 'rule/AwsBackupManagedRule*')),
    ...globalTables.map((name) => `${arnIn('dynamodb', home, `table/${globalTableName(prefix, name)}`)}/backup/*`),
    ...app.node
      .findAll()
      .filter(isOwn)
      .map((table) => `<${Stack.of(table).getLogicalId(table)}.Arn>/backup/*`),
  ]
  const reason = 'AWS Backup names its rules, recovery points and backups, and some actions have no resources.'
  return Object.fromEntries(resources.map((resource) => [`AwsSolutions-IAM5[Resource::${resource}]`, reason]))
}

export const acceptedOf = (app: App): Findings => {
  const settings = readSettings(app.node)
  const { prefix, dataCentres, backup, tracing } = settings
  const regions = Object.entries(dataCentres).map(([id, { region }]) => [id, region] as const)
  const named = [['directory', homeRegion(settings)] as const, ...regions].map(([id, region]) => {
    const stack = `arn:<AWS::Partition>:cloudformation:${region}:${account()}:stack/${prefix}-${id}/*`
    return { [`AwsSolutions-IAM5[Resource::${stack}]`]: 'Stack names end with an unknown id.' }
  })
  const there = Object.values(dataCentres).map(
    ({ region, streaming }) => streaming && acceptedWithStreaming(region, settings),
  )
  const traced = tracing && { 'AwsSolutions-IAM5[Resource::*]': 'The actions of X-Ray have no resources.' }
  return Object.assign({}, accepted, traced, backup && acceptedWithBackup(app, settings), ...named, ...there)
}

export const checkFindings = (app: App, findings: Findings = acceptedOf(app)): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  for (const [id, reason] of Object.entries(findings)) Validations.of(app).acknowledge({ id, reason })
}
