import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
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

describe("The customer's key", () => {
  test('The CDK may decrypt the code of the Web Function with the key', () => {
    owned.us.hasResourceProperties('AWS::IAM::Policy', {
      Roles: [{ Ref: Match.stringLikeRegexp('CustomS3ObjectCopy') }],
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike({ Action: 'kms:Decrypt', Resource: key })]) },
    })
  })
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

test('Alarms notify the configured topic, and the e-mail address of an operator', () => {
  const alarms = propertiesOf(owned.us, 'AWS::CloudWatch::Alarm')
  for (const { AlarmActions, OKActions } of alarms) {
    expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }, dataCentres.us.alarmTopic])
    expect(OKActions).toEqual(AlarmActions)
  }
})

describe('Limits of a token', () => {
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
