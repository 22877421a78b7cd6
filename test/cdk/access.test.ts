import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { templatesOf } from './support/synthesise.ts'

const plain = templatesOf()
const issuer = 'token.actions.githubusercontent.com'

const customDomain = { domainName: 'us.example.com', hostedZoneId: 'Z0123456789' }

/** The regions in which a role may assume the deploying role of `cdk bootstrap`. */
const regionsNamedIn = (template: Template): string[] =>
  [...JSON.stringify(template.toJSON()).matchAll(/deploy-role-[^/]*?-([a-z]+-[a-z]+-\d)"/g)].map(
    ([, region = '']) => region,
  )

describe('the deployment role of GitHub', () => {
  const { directory, us } = templatesOf({
    directoryRegion: 'eu-central-1',
    deploymentRole: { repository: 'example@12/site-admin@34', environment: 'live' },
  })
  const [role] = Object.values(directory.findResources('AWS::IAM::Role')).map(({ Properties }) => Properties)

  test('the directory has the role only if the settings name a repository', () => {
    plain.directory.resourceCountIs('AWS::IAM::Role', 0)
    directory.resourceCountIs('AWS::IAM::Role', 1)
    directory.hasOutput('DeploymentRole', {})
    us.resourcePropertiesCountIs('AWS::IAM::Role', { Description: Match.stringLikeRegexp('^Deploys') }, 0)
  })

  test('only one environment of one repository may assume the role', () => {
    expect(role.AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Principal: { Federated: { 'Fn::Join': ['', expect.arrayContaining([`:oidc-provider/${issuer}`])] } },
        Condition: {
          StringEquals: {
            [`${issuer}:aud`]: 'sts.amazonaws.com',
            [`${issuer}:sub`]: 'repo:example@12/site-admin@34:environment:live',
          },
        },
      },
    ])
  })

  test('the role may assume the bootstrap roles and read stack outputs, nothing else', () => {
    directory.resourceCountIs('AWS::IAM::Policy', 1)
    const [policy] = Object.values(directory.findResources('AWS::IAM::Policy'))
    const statements: { Action: string; Resource: object | object[] }[] =
      policy?.['Properties'].PolicyDocument.Statement
    const targetsOf = (action: string) =>
      statements
        .filter(({ Action }) => Action === action)
        .flatMap(({ Resource }) => Resource)
        .map((resource) => JSON.stringify(resource))
    const targets = targetsOf('sts:AssumeRole')
    const read = targetsOf('cloudformation:DescribeStacks')
    expect(read).toEqual([
      expect.stringMatching(/:cloudformation:us-east-1:.*:stack\/Test-us\/\*"/),
      expect.stringMatching(/:cloudformation:eu-west-1:.*:stack\/Test-eu\/\*"/),
    ])
    expect(statements.flatMap(({ Resource }) => Resource)).toHaveLength(targets.length + read.length)
    const names = ['deploy-role', 'file-publishing-role', 'lookup-role']
    const wanted = ['eu-central-1', 'us-east-1', 'eu-west-1'].flatMap((region) =>
      names.map((name) => expect.stringMatching(new RegExp(`role/cdk-hnb659fds-${name}-.*-${region}"`))),
    )
    expect(targets).toEqual(wanted)
  })

  test.each<[string, boolean, object]>([
    ['a data centre that streams has a domain', true, { streaming: true, customDomain }],
    ['a data centre streams without a domain and a firewall', true, { streaming: true }],
    ['a data centre has a domain without streaming', false, { customDomain }],
  ])('the role may deploy to us-east-1 only if streaming needs this region: %s', (_, isWanted, dataCentre) => {
    const { directory: elsewhere } = templatesOf({
      dataCentres: { us: { region: 'eu-west-1', ...dataCentre } },
      deploymentRole: { repository: 'example/site-admin' },
    })
    expect(regionsNamedIn(elsewhere)).toEqual(isWanted ? ['eu-west-1', 'us-east-1'] : ['eu-west-1'])
  })
})

test('every resource has the tags of the service and of its data centre', () => {
  const { us, eu } = plain
  for (const [id, template] of Object.entries({ us, eu })) {
    const tags = [
      { Key: 'data-centre', Value: id },
      { Key: 'service', Value: 'site-admin' },
    ]
    for (const type of ['AWS::S3::Bucket', 'AWS::Lambda::Function', 'AWS::ApiGateway::RestApi', 'AWS::SQS::Queue']) {
      template.allResourcesProperties(type, { Tags: tags })
    }
    for (const { Properties } of Object.values(template.findResources('AWS::DynamoDB::GlobalTable'))) {
      expect(Properties.Replicas.map(({ Tags }: { Tags: object }) => Tags)).toEqual([tags])
    }
  }
})
