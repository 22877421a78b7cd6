import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault, type IBackupVault } from 'aws-cdk-lib/aws-backup'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { Schedule } from 'aws-cdk-lib/aws-events'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import type { Settings } from '../config/settings.ts'
import type { Watch } from './alarms.ts'

/** The managed policies of AWS for backups. An operator restores with a role of the account, not with this role. */
export const backupPolicies = [
  'service-role/AWSBackupServiceRolePolicyForBackup',
  'AWSBackupServiceRolePolicyForS3Backup',
]

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
  scope: Construct,
  { backup, encryptionKeys }: Settings,
  arns: readonly string[],
): readonly Watch[] => {
  if (!backup) return []
  const parts = new Construct(scope, 'Backup')
  const deleteAfter = Duration.days(backup.days)
  const key = encryptionKeys?.[Stack.of(scope).region]
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
  plan.addSelection('Stores', {
    resources: arns.map((arn) => BackupResource.fromArn(arn)),
    disableDefaultBackupPolicy: true,
    role: new Role(parts, 'Role', {
      assumedBy: new ServicePrincipal('backup.amazonaws.com'),
      managedPolicies: backupPolicies.map((name) => ManagedPolicy.fromAwsManagedPolicyName(name)),
    }),
  })
  return [
    jobWatch('BackupsFailed', jobsOf('NumberOfBackupJobsFailed', vault), ''),
    jobWatch('BackupsExpired', jobsOf('NumberOfBackupJobsExpired', vault), ', because it did not start in time'),
    ...copies.map((copy) => jobWatch('CopiesFailed', failedCopies(vault, copy), ' in another vault')),
  ]
}
