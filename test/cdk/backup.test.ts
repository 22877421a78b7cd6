import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { synthesiseChecked, templatesOf } from './support/synthesise.ts'

const copyTo = 'arn:aws:backup:eu-west-1:123456789012:backup-vault:Copies'
const dataCentres = { us: { region: 'us-east-1' } }
const { us, directory } = templatesOf({ dataCentres, backup: { days: 90, copyTo } })

const count = (template: Template, type: string) => Object.keys(template.findResources(type)).length

describe('Backups', () => {
  test('A backup contains every table, the files of a data centre, and the directory', () => {
    const resourcesOf = (template: Template) => {
      const [selection] = Object.values(template.findResources('AWS::Backup::BackupSelection'))
      return selection?.['Properties'].BackupSelection.Resources
    }
    expect(resourcesOf(us)).toHaveLength(count(us, 'AWS::DynamoDB::GlobalTable') + 1)
    expect(JSON.stringify(resourcesOf(us))).toContain('FilesBucket')
    expect(resourcesOf(directory)).toHaveLength(3)
  })

  test('A backup is made every night, kept as long as configured, and copied elsewhere', () => {
    for (const template of [us, directory]) {
      template.hasResourceProperties('AWS::Backup::BackupPlan', {
        BackupPlan: {
          BackupPlanRule: [
            Match.objectLike({
              ScheduleExpression: Match.stringLikeRegexp('^cron'),
              Lifecycle: { DeleteAfterDays: 90 },
              CopyActions: [{ DestinationBackupVaultArn: copyTo, Lifecycle: { DeleteAfterDays: 90 } }],
            }),
          ],
        },
      })
      template.hasResource('AWS::Backup::BackupVault', { DeletionPolicy: 'Retain' })
    }
  })

  test('The role that makes backups cannot restore them', () => {
    const policies = Object.values(us.findResources('AWS::IAM::Role')).flatMap(
      ({ Properties }) => Properties.ManagedPolicyArns ?? [],
    )
    const ofBackups = JSON.stringify(policies).match(/AWSBackup\w+/g)
    expect(ofBackups).toEqual(['AWSBackupServiceRolePolicyForBackup', 'AWSBackupServiceRolePolicyForS3Backup'])
  })

  test('The backup resources violate no AwsSolutions rule', () => {
    expect(synthesiseChecked({ dataCentres, backup: {} }).findings).toEqual([])
  })

  test('Without the setting, no backups are made', () => {
    expect(count(templatesOf({ dataCentres }).us, 'AWS::Backup::BackupPlan')).toBe(0)
  })
})

describe('A restored table', () => {
  const restoredTables = { categoryLinks: 'Links-restored' }
  const plain = templatesOf({ dataCentres })
  const switched = templatesOf({ dataCentres: { us: { ...dataCentres.us, restoredTables } } })

  test('Functions and commands use a restored table in place of the original table', () => {
    expect(count(switched.us, 'AWS::DynamoDB::GlobalTable')).toBe(count(plain.us, 'AWS::DynamoDB::GlobalTable') - 1)
    switched.us.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ CATEGORY_LINKS_TABLE: 'Links-restored' }) },
    })
    switched.us.hasOutput('CategoryLinksTable', { Value: 'Links-restored' })
  })

  test('Functions have the same permissions on a restored table, also on its index', () => {
    const rights = (template: Template) =>
      JSON.stringify(template.findResources('AWS::IAM::Policy'))
        .replaceAll(/\{"Fn::GetAtt":\["CategoryLinksTable\w+","Arn"\]\}/g, 'LINKS')
        .match(/.{0,8}(LINKS|table\/Links-restored)/g)?.length
    expect(rights(switched.us)).toBe(rights(plain.us))
    expect(JSON.stringify(switched.us.findResources('AWS::IAM::Policy'))).toContain(
      'table/Links-restored/index/byObject',
    )
  })

  test('The table that a restored table replaces remains in the account', () => {
    for (const table of Object.values(plain.us.findResources('AWS::DynamoDB::GlobalTable'))) {
      expect(table['DeletionPolicy']).toBe('RetainExceptOnCreate')
    }
  })
})
