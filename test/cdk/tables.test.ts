import { Stack } from 'aws-cdk-lib'
import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, onTestFinished, test } from 'vitest'
import { messages } from '../support/messages.ts'
import { createTestApp, templatesOf } from './support/synthesise.ts'

const type = 'AWS::DynamoDB::GlobalTable'
const { directory, us } = templatesOf()

/** Region and protection of every replica of every table, sorted. */
const replicasIn = (template: Template): string[] => {
  const found = Object.values(template.findResources(type)).flatMap(({ Properties }) => Properties.Replicas)
  const lines = found.map((replica) => `${replica.Region} ${replica.DeletionProtectionEnabled ? 'protected' : 'free'}`)
  return [...new Set(lines)].sort()
}

describe('tables', () => {
  test('only tables of the directory have a stream, so that a region can be added', () => {
    const single = templatesOf({ dataCentres: { us: { region: 'us-east-1' } } })
    for (const template of [single.directory, directory]) {
      template.allResourcesProperties(type, { StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' } })
    }
    us.allResourcesProperties(type, { StreamSpecification: Match.absent() })
  })

  test('tables of the directory are created last, when little can fail after them', () => {
    const others = Object.keys(directory.toJSON().Resources).filter((id) => !(id in directory.findResources(type)))
    expect(others).not.toEqual([])
    directory.allResources(type, { DependsOn: others })
  })
})

describe('deletion protection', () => {
  test('without protection, deleting the stack deletes the data', () => {
    const free = templatesOf({ deletionProtection: false })
    expect(replicasIn(free.directory)).toEqual(['eu-west-1 free', 'us-east-1 free'])
    for (const template of [free.directory, free.us]) template.allResources(type, { DeletionPolicy: 'Delete' })
    free.us.allResources('AWS::S3::Bucket', { DeletionPolicy: 'Delete' })
  })

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

describe('the home of the directory', () => {
  /** The region of the directory stack: its own replica comes last. */
  const homeOf = ({ directory: template }: Pick<ReturnType<typeof templatesOf>, 'directory'>) =>
    Object.values(template.findResources(type)).map(({ Properties }) => Properties.Replicas.at(-1).Region)

  test('the home is the region of the default data centre', () => {
    expect(homeOf({ directory })).toEqual(['us-east-1', 'us-east-1', 'us-east-1'])
  })

  test('without the setting, a deployment warns once', () => {
    const warningsOf = (settings: object) => {
      const { app, remove } = createTestApp(settings)
      onTestFinished(remove)
      const found = Annotations.fromStack(Stack.of(app.node.findChild('Test-directory')))
      return found.findWarning('*', Match.anyValue()).map(({ entry }) => entry.data)
    }
    expect(warningsOf({})).toEqual([expect.stringContaining(messages.settings.setHome('us-east-1'))])
    expect(warningsOf({ directoryRegion: 'us-east-1' })).toEqual([])
  })

  test('the home stays when another data centre becomes the default', () => {
    const moved = templatesOf({ directoryRegion: 'us-east-1', defaultDataCentre: 'eu' })
    expect(homeOf(moved)).toEqual(['us-east-1', 'us-east-1', 'us-east-1'])
    moved.eu.hasResourceProperties('Custom::DataCentre', { isDefault: true })
    moved.us.hasResourceProperties('Custom::DataCentre', { isDefault: false })
  })

  test('the home may be a region without a data centre', () => {
    const apart = templatesOf({ directoryRegion: 'eu-central-1' })
    expect(replicasIn(apart.directory).map((line) => line.split(' ')[0])).toEqual([
      'eu-central-1',
      'eu-west-1',
      'us-east-1',
    ])
  })
})
