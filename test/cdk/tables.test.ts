import type { Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { messages } from '../support/messages.ts'
import { templatesOf } from './support/synthesise.ts'

const type = 'AWS::DynamoDB::GlobalTable'

/** The data centres `us` and `asia` share a region. The home region has no data centre. */
const moved = templatesOf({
  directoryRegion: 'us-east-1',
  defaultDataCentre: 'eu',
  dataCentres: {
    us: { region: 'us-west-2', deletionProtection: false },
    asia: { region: 'us-west-2' },
    eu: { region: 'eu-west-1', deletionProtection: false },
  },
})

/** Region and protection of every replica of every table, sorted. */
const replicasIn = (template: Template): string[] => {
  const found = Object.values(template.findResources(type)).flatMap(({ Properties }) => Properties.Replicas)
  const lines = found.map((replica) => `${replica.Region} ${replica.DeletionProtectionEnabled ? 'protected' : 'free'}`)
  return [...new Set(lines)].sort()
}

test('deletion protection can be turned off for one data centre and its replica', () => {
  const { directory, us, eu } = moved
  expect(replicasIn(directory)).toEqual(['eu-west-1 free', 'us-east-1 protected', 'us-west-2 protected'])
  expect([us, eu].map(replicasIn)).toEqual([['us-west-2 free'], ['eu-west-1 free']])
  eu.allResources('AWS::S3::Bucket', { DeletionPolicy: 'Delete' })
})

test('a deployment without directoryRegion asks once for this setting', () => {
  expect(templatesOf().warnings).toEqual([expect.stringContaining(messages.settings.setHome('us-east-1'))])
  expect(moved.warnings).toEqual([])
})

test('the home region stays the same when another data centre becomes the default', () => {
  const { directory, us, eu } = moved
  // The replica of the home region comes last.
  const homes = Object.values(directory.findResources(type)).map(({ Properties }) => Properties.Replicas.at(-1).Region)
  expect(homes).toEqual(['us-east-1', 'us-east-1', 'us-east-1'])
  eu.hasResourceProperties('Custom::DataCentre', { isDefault: true })
  us.hasResourceProperties('Custom::DataCentre', { isDefault: false })
})
