import { Match, type Template } from 'aws-cdk-lib/assertions'
import { expect, test } from 'vitest'
import { ownRules } from './support/choices.ts'
import { compareStacks } from './support/describe-stack.ts'
import { templatesOf } from './support/synthesise.ts'

const dataCentres = {
  us: { region: 'us-east-1', streaming: true, alarmTopic: 'arn:aws:sns:us-east-1:123456789012:ops' },
  eu: { region: 'eu-west-1' },
}
const common = { dataCentres, changeEvents: true, alarmEmail: 'ops@example.com', webApplicationFirewall: true }
const plain = templatesOf({ ...common, canary: true, backup: { days: 35 } })
const owned = templatesOf({ ...common, ...ownRules(['us-east-1', 'eu-west-1']) })
const key = ownRules(['us-east-1']).encryptionKeys['us-east-1']

const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map((resource) => resource['Properties'])

test('Own keys and rules change only what own-rules.txt lists: review each change', async () => {
  const lines = [...compareStacks(owned.directory, plain.directory), ...compareStacks(owned.us, plain.us)]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('own-rules.txt')
})

test("The CDK may decrypt the code of the Web Function with the customer's key", () => {
  owned.us.hasResourceProperties('AWS::IAM::Policy', {
    Roles: [{ Ref: Match.stringLikeRegexp('CustomS3ObjectCopy') }],
    PolicyDocument: { Statement: Match.arrayWith([Match.objectLike({ Action: 'kms:Decrypt', Resource: key })]) },
  })
})

test('Without a replicated directory, each data centre may use the key of its region', () => {
  const { eu } = templatesOf({ ...common, ...ownRules(['us-east-1', 'eu-west-1']), replicateDirectory: false })
  const granting = propertiesOf(eu, 'AWS::IAM::Policy').filter((policy) => JSON.stringify(policy).includes(`${key}`))
  const granted = JSON.stringify(granting.map(({ PolicyName }) => PolicyName))
  for (const name of ['Fields', 'Categories', 'Storage', 'Access', 'Documentation', 'Removals', 'Registration'])
    expect(granted).toContain(`${name}Function`)
})

test('A policy for administrators over the quota of IAM is refused before deployment', () => {
  const regions = [
    ...['us-east-1', 'eu-west-1', 'ap-south-1', 'ap-northeast-1', 'ap-southeast-1', 'ap-southeast-2'],
    ...['us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'sa-east-1', 'eu-central-1'],
  ]
  const inRegions = Object.fromEntries(regions.map((region, index) => [`dc${index}`, { region }]))
  const rules = { defaultDataCentre: 'dc0', encryptionKeys: ownRules(regions).encryptionKeys }
  const many = { dataCentres: inRegions, ...rules }
  expect(() => templatesOf(many)).not.toThrow()
  expect(() => templatesOf({ ...many, prefix: 'p'.repeat(32) })).toThrow('but IAM allows 6144')
})

test('Alarms notify the configured topic, and the e-mail address of an operator', () => {
  const alarms = [owned.us, owned.directory].flatMap((stack) => propertiesOf(stack, 'AWS::CloudWatch::Alarm'))
  expect(alarms.length).toBeGreaterThan(0)
  for (const { AlarmActions, OKActions } of alarms) {
    expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }, dataCentres.us.alarmTopic])
    expect(OKActions).toEqual(AlarmActions)
  }
})

test('Without limits in the settings, tokens are not limited', () => {
  const { us } = templatesOf({ ...common, requestLimits: { perToken: 0, perSite: 0 } })
  expect(JSON.stringify(us.toJSON())).not.toContain('"REQUESTS_PER_TOKEN":"1')
  expect(JSON.stringify(propertiesOf(us, 'AWS::WAFv2::WebACL'))).not.toContain('Tokens')
})
