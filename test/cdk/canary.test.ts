import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { templatesOf } from './support/synthesise.ts'

const { us } = templatesOf({ canary: true })

describe('The canary', () => {
  test('The canary calls the base URL with a token that the template does not have', () => {
    us.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          BASE_URL: Match.anyValue(),
          CANARY_TOKEN: '{{resolve:secretsmanager:Test-us-canary:SecretString:::}}',
        },
      },
    })
  })

  test('The role of the canary may only write its log', () => {
    const policies = Object.entries(us.findResources('AWS::IAM::Policy')).filter(([id]) => id.startsWith('Canary'))
    const actions = policies.flatMap(([, { Properties }]) =>
      Properties.PolicyDocument.Statement.flatMap(({ Action }: { Action: string }) => Action),
    )
    expect(actions).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents'])
  })

  test('An alarm goes off if the canary fails twice', () => {
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'Errors',
      EvaluationPeriods: 2,
      AlarmDescription: Match.stringLikeRegexp('^The canary cannot'),
    })
  })
})
