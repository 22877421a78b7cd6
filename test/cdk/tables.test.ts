import { Stack } from 'aws-cdk-lib'
import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, onTestFinished, test } from 'vitest'
import { messages } from '../support/messages.ts'
import { createTestApp, templatesOf } from './support/synthesise.ts'

const type = 'AWS::DynamoDB::GlobalTable'

/** Region and protection of every replica of every table, sorted. */
const replicasIn = (template: Template): string[] => {
  const found = Object.values(template.findResources(type)).flatMap(({ Properties }) => Properties.Replicas)
  const lines = found.map((replica) => `${replica.Region} ${replica.DeletionProtectionEnabled ? 'protected' : 'free'}`)
  return [...new Set(lines)].sort()
}

describe('deletion protection', () => {
  test('protection can be turned off for one data centre and its replica', () => {
    const lifted = templatesOf({
      dataCentres: {
        us: { region: 'us-east-1' },
        eu: { region: 'eu-west-1', deletionProtection: false },
      },
    })
    expect(replicasIn(lifted.directory)).toEqual(['eu-west-1 free', 'us-east-1 protected'])
    expect([lifted.us, lifted.eu].map(replicasIn)).toEqual([['us-east-1 protected'], ['eu-west-1 free']])
    lifted.eu.allResources('AWS::S3::Bucket', { DeletionPolicy: 'Delete' })

    const shared = templatesOf({
      dataCentres: {
        us: { region: 'us-east-1' },
        eu: { region: 'eu-west-1', deletionProtection: false },
        asia: { region: 'eu-west-1' },
      },
    })
    expect(replicasIn(shared.directory)).toEqual(['eu-west-1 protected', 'us-east-1 protected'])
  })
})

describe('the home region of the directory', () => {
  /** The region of the directory stack, whose replica comes last. */
  const homeOf = ({ directory: template }: Pick<ReturnType<typeof templatesOf>, 'directory'>) =>
    Object.values(template.findResources(type)).map(({ Properties }) => Properties.Replicas.at(-1).Region)

  test('a deployment without directoryRegion asks once for this setting', () => {
    const warningsOf = (settings: object) => {
      const { app, remove } = createTestApp(settings)
      onTestFinished(remove)
      const found = Annotations.fromStack(Stack.of(app.node.findChild('Test-directory')))
      return found.findWarning('*', Match.anyValue()).map(({ entry }) => entry.data)
    }
    expect(warningsOf({})).toEqual([expect.stringContaining(messages.settings.setHome('us-east-1'))])
    expect(warningsOf({ directoryRegion: 'us-east-1' })).toEqual([])
  })

  test('the home region stays the same when another data centre becomes the default', () => {
    const moved = templatesOf({ directoryRegion: 'us-east-1', defaultDataCentre: 'eu' })
    expect(homeOf(moved)).toEqual(['us-east-1', 'us-east-1', 'us-east-1'])
    moved.eu.hasResourceProperties('Custom::DataCentre', { isDefault: true })
    moved.us.hasResourceProperties('Custom::DataCentre', { isDefault: false })
  })
})
