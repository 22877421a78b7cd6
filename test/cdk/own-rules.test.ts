import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { ownRules } from './support/choices.ts'
import { summarise } from './support/summarise.ts'
import { templatesOf } from './support/synthesise.ts'

const dataCentres = {
  us: { region: 'us-east-1', streaming: true, alarmTopic: 'arn:aws:sns:us-east-1:123456789012:ops' },
  eu: { region: 'eu-west-1' },
}
const common = { dataCentres, changeEvents: true, alarmEmail: 'ops@example.com', webApplicationFirewall: true }
const plain = templatesOf(common)
const owned = templatesOf({ ...common, ...ownRules(['us-east-1', 'eu-west-1']) })
const keys = ownRules(['us-east-1', 'eu-west-1']).encryptionKeys

const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map((resource) => resource['Properties'])

const statementsOf = (template: Template) =>
  propertiesOf(template, 'AWS::IAM::Policy').flatMap(({ PolicyDocument }) => PolicyDocument.Statement)

test('An app with own rules has the properties in own-rules.txt: review each change', async () => {
  const usual = summarise(plain.us)
  const lines = summarise(owned.us).filter((line) => !usual.includes(line))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('own-rules.txt')
})

describe("The customer's key", () => {
  const key = keys['us-east-1']

  test('Each replica of the directory is encrypted with the key of its region', () => {
    for (const { Replicas } of propertiesOf(owned.directory, 'AWS::DynamoDB::GlobalTable')) {
      const found = Replicas.map((replica: { Region: string; SSESpecification: { KMSMasterKeyId: string } }) => [
        replica.Region,
        replica.SSESpecification.KMSMasterKeyId,
      ])
      expect(Object.fromEntries(found)).toEqual(keys)
    }
  })

  test('The service uses the key only through DynamoDB, S3, SQS and SSM', () => {
    const onKey = statementsOf(owned.us).filter(({ Resource }) => Resource === key)
    expect(onKey.length).toBeGreaterThan(5)
    for (const { Action, Condition } of onKey) {
      expect([Action].flat().every((action: string) => /^kms:(Decrypt|GenerateDataKey)$/.test(action))).toBe(true)
      for (const service of [Condition.StringEquals['kms:ViaService']].flat())
        expect(service).toMatch(/^(dynamodb|s3|sqs|ssm)\.us-east-1\.amazonaws\.com$/)
    }
    expect(JSON.stringify(statementsOf(plain.us))).not.toContain('kms:')
  })

  test('The CDK may decrypt the code of the Web Function with the key', () => {
    owned.us.hasResourceProperties('AWS::IAM::Policy', {
      Roles: [{ Ref: Match.stringLikeRegexp('CustomS3ObjectCopy') }],
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike({ Action: 'kms:Decrypt', Resource: key })]) },
    })
  })
})

test('Every role has the permissions boundary, also roles that the CDK creates', () => {
  for (const template of [owned.us, owned.eu, owned.directory]) {
    for (const { PermissionsBoundary } of propertiesOf(template, 'AWS::IAM::Role')) {
      expect(JSON.stringify(PermissionsBoundary)).toContain(':policy/Boundary')
    }
  }
  expect(JSON.stringify(propertiesOf(plain.us, 'AWS::IAM::Role'))).not.toContain('PermissionsBoundary')
})

test('Only the function for access may read the client secrets of issuers (A-93)', () => {
  for (const { us } of [plain, owned]) {
    const policies = propertiesOf(us, 'AWS::IAM::Policy').filter((policy) => /"ssm:/.test(JSON.stringify(policy)))
    expect(policies.map(({ Roles }) => JSON.stringify(Roles))).toEqual([expect.stringContaining('AccessFunction')])
    const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    const onSecrets = statements.filter(({ Action }) => Action === 'ssm:GetParameter')
    expect(onSecrets.map(({ Resource }) => JSON.stringify(Resource))).toEqual([
      expect.stringContaining(':parameter/Test/client-secrets'),
    ])
  }
})

test('Alarms notify the configured topic and the address of an operator', () => {
  const alarms = propertiesOf(owned.us, 'AWS::CloudWatch::Alarm')
  for (const { AlarmActions, OKActions } of alarms) {
    expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }, dataCentres.us.alarmTopic])
    expect(OKActions).toEqual(AlarmActions)
  }
})

describe('Alarms of tables', () => {
  test('An alarm goes off when an index of a table is throttled', () => {
    for (const MetricName of ['ReadThrottleEvents', 'WriteThrottleEvents']) {
      plain.us.hasResourceProperties('AWS::CloudWatch::Alarm', {
        MetricName,
        Dimensions: Match.arrayWith([{ Name: 'GlobalSecondaryIndexName', Value: 'byObject' }]),
      })
    }
  })

  test('An alarm goes off when DynamoDB fails, for each operation on a table', () => {
    const [errors] = propertiesOf(plain.us, 'AWS::CloudWatch::Alarm').filter(
      ({ Metrics, AlarmDescription }) => Metrics && AlarmDescription.includes('the table webForms'),
    )
    const operations = errors?.Metrics.flatMap(({ MetricStat }: { MetricStat?: Record<string, never> }) =>
      MetricStat ? [JSON.stringify(MetricStat).match(/"Operation","Value":"(\w+)"/)?.[1]] : [],
    )
    expect(operations?.sort()).toEqual(['GetItem', 'Query', 'UpdateItem'])
  })
})

describe('Limits of a token', () => {
  test('Each function that checks tokens limits them (O-22)', () => {
    for (const { Environment } of propertiesOf(plain.us, 'AWS::Lambda::Function').filter(
      (properties) => properties.Environment?.Variables?.TOKENS_TABLE,
    )) {
      expect(Environment.Variables).toMatchObject({ REQUESTS_PER_TOKEN: '100', REQUESTS_PER_SITE: '200' })
    }
  })

  test('The firewall limits a token for the whole data centre (O-22, E-14)', () => {
    const [acl] = propertiesOf(plain.eu, 'AWS::WAFv2::WebACL')
    const rule = acl?.Rules.find(({ Name }: { Name: string }) => Name === 'Tokens')
    expect(rule.Statement.RateBasedStatement).toMatchObject({ Limit: 6000, EvaluationWindowSec: 60 })
    const { ResponseCode, ResponseHeaders, CustomResponseBodyKey } = rule.Action.Block.CustomResponse
    expect([ResponseCode, ResponseHeaders]).toEqual([429, [{ Name: 'Retry-After', Value: '60' }]])
    expect(JSON.parse(acl?.CustomResponseBodies[CustomResponseBodyKey].Content)).toMatchObject({ code: 100429 })
  })

  test('Without limits in the settings, tokens are not limited', () => {
    const { us } = templatesOf({ ...common, requestLimits: { perToken: 0, perSite: 0 } })
    expect(JSON.stringify(us.toJSON())).not.toContain('"REQUESTS_PER_TOKEN":"1')
    expect(JSON.stringify(propertiesOf(us, 'AWS::WAFv2::WebACL'))).not.toContain('Tokens')
  })
})
