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
const plain = templatesOf(common)
const owned = templatesOf({ ...common, ...ownRules(['us-east-1', 'eu-west-1']) })
const key = ownRules(['us-east-1']).encryptionKeys['us-east-1']

const propertiesOf = (template: Template, type: string) =>
  Object.values(template.findResources(type)).map((resource) => resource['Properties'])

test('The keys and rules of a company change only the properties in own-rules.txt: review each change', async () => {
  const lines = [...compareStacks(owned.directory, plain.directory), ...compareStacks(owned.us, plain.us)]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('own-rules.txt')
})

test("The CDK may decrypt the code of the Web Function with the customer's key", () => {
  owned.us.hasResourceProperties('AWS::IAM::Policy', {
    Roles: [{ Ref: Match.stringLikeRegexp('CustomS3ObjectCopy') }],
    PolicyDocument: { Statement: Match.arrayWith([Match.objectLike({ Action: 'kms:Decrypt', Resource: key })]) },
  })
})

test('Alarms notify the configured topic, and the e-mail address of an operator', () => {
  const alarms = propertiesOf(owned.us, 'AWS::CloudWatch::Alarm')
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
