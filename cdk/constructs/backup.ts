import { ArnFormat, Duration, RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault, type IBackupVault } from 'aws-cdk-lib/aws-backup'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Schedule } from 'aws-cdk-lib/aws-events'
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { allow, allowKeys } from '../config/grants.ts'
import type { Settings } from '../config/settings.ts'
import type { Watch } from './alarms.ts'

const tableActions = ['DescribeTable', 'CreateBackup', 'StartAwsBackupJob', 'ListTagsOfResource']
const bucketActions = [
  ...['ListBucket', 'ListBucketVersions', 'GetBucketAcl', 'GetBucketLocation', 'GetBucketTagging'],
  ...['GetBucketVersioning', 'GetBucketNotification', 'PutBucketNotification'],
  ...['GetInventoryConfiguration', 'PutInventoryConfiguration'],
]
const objectActions = ['', 'Acl', 'Tagging', 'Version', 'VersionAcl', 'VersionTagging'].map(
  (part) => `GetObject${part}`,
)
const ruleActions = [
  ...['PutRule', 'DescribeRule', 'EnableRule', 'DisableRule', 'DeleteRule'],
  ...['PutTargets', 'ListTargetsByRule', 'RemoveTargets'],
]

// The permissions that AWS documents for backups of DynamoDB and S3. An operator restores with another role.
const backupStatements = (
  stack: Stack,
  settings: Settings,
  tables: readonly string[],
  bucketArn: string | undefined,
): readonly PolicyStatement[] => {
  const { region } = stack
  const copyTo = settings.backup?.copyTo
  const rules = stack.formatArn({ service: 'events', resource: 'rule', resourceName: 'AwsBackupManagedRule*' })
  const points = stack.formatArn({
    ...{ service: 'backup', region: '*', resource: 'recovery-point', resourceName: '*' },
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
  const ofFiles = (arn: string) => [
    allow('s3', bucketActions, arn),
    allow('s3', objectActions, `${arn}/*`),
    allow('s3', ['ListAllMyBuckets'], '*'),
    allow('cloudwatch', ['GetMetricData'], '*'),
    allow('events', ['ListRules'], '*'),
    allow('events', ruleActions, rules),
    allow('backup', ['TagResource'], points),
    ...allowKeys(settings, [region], ['s3'], ['Decrypt', 'DescribeKey']),
  ]
  return [
    allow('dynamodb', tableActions, ...tables),
    allow('dynamodb', ['DescribeBackup', 'DeleteBackup'], ...tables.map((arn) => `${arn}/backup/*`)),
    ...allowKeys(settings, [region], ['dynamodb'], ['Decrypt', 'GenerateDataKey']),
    ...(bucketArn === undefined ? [] : ofFiles(bucketArn)),
    ...(copyTo === undefined
      ? []
      : [
          allow('backup', ['DescribeBackupVault', 'CopyIntoBackupVault'], copyTo),
          allow('backup', ['CopyFromBackupVault'], '*'),
        ]),
  ]
}

const jobsOf = (metricName: string, { backupVaultName }: IBackupVault): Metric =>
  new Metric({
    namespace: 'AWS/Backup',
    metricName,
    dimensionsMap: { BackupVaultName: backupVaultName },
    statistic: 'Sum',
  })

const jobWatch = (id: string, metric: IMetric, detail: string): Watch => ({
  id,
  metric,
  impact: `A table or the files have no backup of the last night${detail}.`,
  action: 'Find the reason in the list of jobs in AWS Backup.',
})

// AWS does not document which of the two vaults names the metric of a copy.
const failedCopies = (from: IBackupVault, to: IBackupVault): IMetric =>
  new MathExpression({
    expression: 'SUM([sent, received])',
    usingMetrics: { sent: jobsOf('NumberOfCopyJobsFailed', from), received: jobsOf('NumberOfCopyJobsFailed', to) },
  })

export const createBackup = (
  stack: Stack,
  settings: Settings,
  tables: readonly string[],
  bucketArn?: string,
): readonly Watch[] => {
  const { backup, encryptionKeys } = settings
  if (!backup) return []
  const parts = new Construct(stack, 'Backup')
  const deleteAfter = Duration.days(backup.days)
  const key = encryptionKeys?.[stack.region]
  // AWS cannot change the key of a vault, and a vault keeps its name. So a vault with the customer's key has another name.
  const vault = new BackupVault(parts, key === undefined ? 'Vault' : 'KeyedVault', {
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ...(key !== undefined && { encryptionKey: Key.fromKeyArn(parts, 'Key', key) }),
  })
  const copies = backup.copyTo === undefined ? [] : [BackupVault.fromBackupVaultArn(parts, 'Copies', backup.copyTo)]
  const plan = new BackupPlan(parts, 'Plan', { backupVault: vault })
  plan.addRule(
    new BackupPlanRule({
      scheduleExpression: Schedule.cron({ hour: '3', minute: '0' }),
      deleteAfter,
      copyActions: copies.map((destinationBackupVault) => ({ destinationBackupVault, deleteAfter })),
    }),
  )
  const role = new Role(parts, 'Role', { assumedBy: new ServicePrincipal('backup.amazonaws.com') })
  for (const statement of backupStatements(stack, settings, tables, bucketArn)) role.addToPolicy(statement)
  const arns = [...tables, ...(bucketArn === undefined ? [] : [bucketArn])]
  plan.addSelection('Stores', {
    resources: arns.map((arn) => BackupResource.fromArn(arn)),
    disableDefaultBackupPolicy: true,
    role,
  })
  return [
    jobWatch('BackupsFailed', jobsOf('NumberOfBackupJobsFailed', vault), ''),
    jobWatch('BackupsExpired', jobsOf('NumberOfBackupJobsExpired', vault), ', because it did not start in time'),
    ...copies.map((copy) => jobWatch('CopiesFailed', failedCopies(vault, copy), ' in another vault')),
  ]
}
