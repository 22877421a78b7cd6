import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { templatesOf } from './support/synthesise.ts'

const { us } = templatesOf({ canary: true })

describe('The canary', () => {
  test('asks the base URL of its data centre, with a token that the template does not contain', () => {
    us.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: {
          BASE_URL: Match.anyValue(),
          CANARY_TOKEN: '{{resolve:secretsmanager:Test-us-canary:SecretString:::}}',
        },
      },
    })
  })

  test('may write its log, and nothing else', () => {
    const policies = Object.entries(us.findResources('AWS::IAM::Policy')).filter(([id]) => id.startsWith('Canary'))
    const actions = policies.flatMap(([, { Properties }]) =>
      Properties.PolicyDocument.Statement.flatMap(({ Action }: { Action: string }) => Action),
    )
    expect(actions).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents'])
  })

  test('sets off an alarm when it fails twice', () => {
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'Errors',
      EvaluationPeriods: 2,
      AlarmDescription: Match.stringLikeRegexp('^The canary cannot'),
    })
  })
})
