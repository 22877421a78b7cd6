import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { functionName, functionNames, functionSettings } from '../../cdk/config/functions.ts'
import { logLevels } from '../../lib/config/config.ts'
import { removalTimes } from '../../lib/config/removals.ts'
import { errors } from '../../lib/core/errors.ts'
import { corsHeaders } from '../../lib/http/cors.ts'
import { longestSilence } from '../../lib/storage/path-locks.ts'
import { messages } from '../support/messages.ts'
import { summarise } from './support/summarise.ts'
import { templatesOf } from './support/synthesise.ts'

const { directory, us } = templatesOf()

const everything = templatesOf({
  changeEvents: true,
  webhooks: true,
  webApplicationFirewall: true,
  alarmEmail: 'ops@example.com',
  uploadOrigins: ['https://example.com'],
  dataCentres: {
    us: {
      region: 'us-east-1',
      streaming: true,
      customDomain: { domainName: 'us.example.com', hostedZoneId: 'Z0123456789' },
    },
  },
})

test('The stacks have the properties in template.txt: review each change', async () => {
  const plain = summarise(us)
  const lines = [
    'The directory',
    ...summarise(directory),
    '\nA data centre',
    ...plain,
    '\nA data centre with every option, where it differs',
    ...summarise(everything.us).filter((line) => !plain.includes(line)),
  ]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('template.txt')
})

describe('functions', () => {
  test('the deployment guide names all functions', () => {
    const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'deploying.md'), 'utf8')
    const names = [...functionNames.map(functionName), 'RegistrationFunction']
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
  })

  test('functions end before the time limit of the gateway', () => {
    for (const { Properties } of Object.values(us.findResources('AWS::Lambda::Function'))) {
      if (/^(fields|categories|storage)/i.test(Properties.Description)) expect(Properties.Timeout).toBeLessThan(29)
    }
  })

  test('only the worker of removals may invoke itself through a queue', () => {
    const allowed = us.findResources('AWS::Lambda::Function', { Properties: { RecursiveLoop: 'Allow' } })
    expect(Object.values(allowed)).toMatchObject([
      { Properties: { Description: functionSettings.removals.description } },
    ])
  })

  test('functions have wildcard permissions only for the streams of their own log', () => {
    for (const { Properties } of Object.values(us.findResources('AWS::IAM::Policy'))) {
      for (const { Action } of Properties.PolicyDocument.Statement) {
        expect([Action].flat().filter((action: string) => action.includes('*'))).toEqual([])
      }
    }
  })
})

describe('the queue of removals', () => {
  const longestWork = functionSettings.removals.timeout.toSeconds()

  test('a message is repeated only after its worker ended, and before the queue drops it', () => {
    const visibility = 6 * longestWork
    us.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: visibility,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 5 }),
    })
    expect((visibility + longestWork) * 1000).toBeLessThan(longestSilence)
  })

  test('after an hour without progress, a message moves to the dead letters (S-113)', () => {
    const queues = Object.values(us.findResources('AWS::SQS::Queue')).map(({ Properties }) => Properties)
    const { VisibilityTimeout, RedrivePolicy } = queues.find((queue) => queue.RedrivePolicy)
    expect(removalTimes.repeatedFor + VisibilityTimeout * RedrivePolicy.maxReceiveCount).toBe(3600)
  })
})

describe('the gateway', () => {
  const gatewayResponses = new Map(
    Object.values(us.findResources('AWS::ApiGateway::GatewayResponse')).map(({ Properties }) => [
      Properties.ResponseType,
      Properties,
    ]),
  )

  test.each<[string, { readonly status: number; readonly code: number }, string?]>([
    ['REQUEST_TOO_LARGE', errors.bodyTooLarge],
    ['THROTTLED', errors.tooManyRequests, '1'],
    ['QUOTA_EXCEEDED', errors.tooManyRequests, '3600'],
    ['INTEGRATION_FAILURE', errors.unavailable, '1'],
    ['INTEGRATION_TIMEOUT', errors.unavailable, '1'],
    ['MISSING_AUTHENTICATION_TOKEN', errors.routeUnknown],
    ['RESOURCE_NOT_FOUND', errors.routeUnknown],
    ['UNSUPPORTED_MEDIA_TYPE', errors.mediaTypeUnsupported],
    ['WAF_FILTERED', { status: 403, code: 403 }],
    ['DEFAULT_4XX', { status: 400, code: 400 }],
    ['DEFAULT_5XX', errors.unavailable, '1'],
  ])('the gateway refuses %s with the error body of the service (E-14, E-16)', (type, { status, code }, retryAfter) => {
    const { StatusCode, ResponseTemplates, ResponseParameters } = gatewayResponses.get(type)
    expect(StatusCode).toBe(String(status))
    const body = JSON.parse(ResponseTemplates['application/json'])
    expect(body).toEqual({ code, message: expect.stringMatching(/\S/), requestId: '$context.requestId' })
    const fixed = { ...corsHeaders, 'Cache-Control': 'no-store', ...(retryAfter && { 'Retry-After': retryAfter }) }
    const headers = Object.entries(fixed).map(([name, value]) => [`gatewayresponse.header.${name}`, `'${value}'`])
    expect(ResponseParameters).toEqual({
      ...Object.fromEntries(headers),
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
    })
  })

  test('the gateway refuses requests only in these ways', () => {
    expect(gatewayResponses.size).toBe(11)
  })

  test('the refusal of a large body names the limit and the alternative (S-104, U-18)', () => {
    const textOf = (type: string) => gatewayResponses.get(type).ResponseTemplates['application/json']
    for (const type of ['REQUEST_TOO_LARGE', 'DEFAULT_4XX']) expect(textOf(type)).toContain('4.5 MB')
    expect(textOf('REQUEST_TOO_LARGE')).toContain(messages.http.tus)
  })

  test.each(['INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX'])(
    '%s says that the change may have been made and can be repeated',
    (type) => {
      const { message } = JSON.parse(gatewayResponses.get(type).ResponseTemplates['application/json'])
      expect(message).toContain(messages.alarm.mayBeStored)
      expect(message).toContain(messages.alarm.repeatIsSafe)
    },
  )

  test('the gateway has a firewall only if the settings ask for one', () => {
    us.resourceCountIs('AWS::WAFv2::WebACL', 0)
    const chosen = templatesOf({ webApplicationFirewall: true })
    chosen.us.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1)
    const [dashboard] = Object.values(chosen.us.findResources('AWS::CloudWatch::Dashboard'))
    const [acl] = Object.values(chosen.us.findResources('AWS::WAFv2::WebACL'))
    const body = JSON.stringify(dashboard).replaceAll('\\', '')
    const { VisibilityConfig, Rules } = acl?.Properties ?? {}
    for (const rule of Rules) {
      const dimensions = `"Rule","${rule.VisibilityConfig.MetricName}","WebACL","${VisibilityConfig.MetricName}"`
      expect(body).toContain(`"Region","us-east-1",${dimensions}`)
    }
  })
})

describe('logs', () => {
  test('every function writes to a log group that expires', () => {
    for (const template of [directory, us, everything.us]) {
      const groups = Object.keys(template.findResources('AWS::Logs::LogGroup'))
      for (const { Properties } of Object.values(template.findResources('AWS::Lambda::Function'))) {
        expect(groups).toContain(Properties.LoggingConfig.LogGroup.Ref)
      }
    }
  })

  test.each(logLevels)('functions and Lambda log from the level %s of the settings upwards', (logLevel) => {
    const chosen = templatesOf({ logLevel })
    const functions = Object.values(chosen.us.findResources('AWS::Lambda::Function'))
    for (const { Properties } of functions.filter(({ Properties }) => Properties.Environment.Variables.LOG_LEVEL)) {
      expect(Properties.Environment.Variables.LOG_LEVEL).toBe(logLevel)
      expect(Properties.LoggingConfig.ApplicationLogLevel).toBe(logLevel)
    }
    chosen.us.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { LoggingConfig: { ApplicationLogLevel: logLevel } },
      logLevel === 'INFO' ? functions.length : functions.length - 1,
    )
  })
})

describe('alarms', () => {
  test('an alarm says what callers notice and what to do, and notifies nobody by default', () => {
    const alarms = Object.values(us.findResources('AWS::CloudWatch::Alarm'))
    expect(alarms.length).toBeGreaterThan(5)
    for (const { Properties } of alarms) {
      expect(Properties.AlarmDescription).toMatch(/^\S.*[.] .*\S[.]$/)
      expect(Properties.AlarmActions).toBeUndefined()
    }
    us.resourceCountIs('AWS::SNS::Topic', 0)
  })

  test('alarms watch only the gateway of their own data centre', () => {
    us.hasResourceProperties('AWS::ApiGateway::RestApi', { Name: 'Test-us' })
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: '5XXError',
      Dimensions: [{ Name: 'ApiName', Value: 'Test-us' }],
    })
  })

  test('an alarm goes off when a removal is open for two hours (S-113)', () => {
    const [group] = Object.keys(us.findResources('AWS::Logs::LogGroup')).filter((id) =>
      id.startsWith('RemovalsFunction'),
    )
    us.hasResourceProperties('AWS::Logs::MetricFilter', {
      LogGroupName: { Ref: group },
      FilterPattern: '{ $.message.removalAge >= 0 }',
      MetricTransformations: [Match.objectLike({ MetricName: 'OldestRemoval', MetricValue: '$.message.removalAge' })],
    })
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'Test-us',
      MetricName: 'OldestRemoval',
      Statistic: 'Maximum',
      Threshold: 7200,
    })
  })

  test('an alarm goes off when a replica of the directory is slow', () => {
    for (const table of ['Test-sites', 'Test-tokens']) {
      us.hasResourceProperties('AWS::CloudWatch::Alarm', {
        Namespace: 'AWS/DynamoDB',
        MetricName: 'ReplicationLatency',
        Dimensions: Match.arrayWith([{ Name: 'ReceivingRegion', Value: 'eu-west-1' }]),
        Statistic: 'Maximum',
        Threshold: 40_000,
        AlarmDescription: Match.stringLikeRegexp(messages.alarm.slowReplica(table.slice(5), 'eu-west-1')),
      })
    }
    const alone = templatesOf({ replicateDirectory: false })
    alone.us.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', { MetricName: 'ReplicationLatency' }, 0)
  })

  test.each<[string, Template, readonly string[]]>([
    ['a data centre', us, ['removalsFailures', 'ServerErrors']],
    [
      'a data centre with every option',
      everything.us,
      ['removalsFailures', 'ServerErrors', 'StreamFailures', 'StreamStarts'],
    ],
  ])('a deployment with a broken version is rolled back by alarms: %s', (_, template, wanted) => {
    const { Outputs, Resources } = template.toJSON()
    const arns: string[] = JSON.stringify(Outputs.RollbackAlarms.Value).match(/Alarms[^"]+/g) ?? []
    expect(arns.map((id) => Resources[id].Type)).toEqual(wanted.map(() => 'AWS::CloudWatch::Alarm'))
    expect(arns.map((id) => id.slice('Alarms'.length, -'01234567'.length)).sort()).toEqual([...wanted].sort())
  })

  test('the guide has the right number of alarms in its table of costs', () => {
    const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'deploying.md'), 'utf8')
    const [, printed] = /Each of two data centres has (\d+) alarms/.exec(guide) ?? []
    expect(Number(printed)).toBe(Object.keys(us.findResources('AWS::CloudWatch::Alarm')).length)
  })

  test('alarms may publish to the configured address', () => {
    const statement = { Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } }
    everything.us.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [Match.anyValue()] })
    everything.us.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(statement)]) },
    })
  })
})

describe('the dashboard', () => {
  test('the dashboard shows requests by operation, and the queue of removals', () => {
    const [dashboard] = Object.values(us.findResources('AWS::CloudWatch::Dashboard'))
    const body = JSON.stringify(dashboard?.Properties.DashboardBody)
    expect(body).toContain('stats count(*) as requests, pct(durationMs, 50)')
    expect(body).toContain('ApproximateAgeOfOldestMessage')
    expect(body).toContain('ReplicationLatency')
  })
})

test('Only pages of the origins in cdk.json may send parts to the bucket (U-31)', () => {
  const put = Match.objectLike({ AllowedMethods: ['PUT'], AllowedOrigins: ['https://example.com'] })
  const withRules = (rules: unknown) => ({ CorsConfiguration: { CorsRules: rules } })
  everything.us.hasResourceProperties('AWS::S3::Bucket', withRules(Match.arrayWith([put])))
  us.hasResourceProperties('AWS::S3::Bucket', withRules([Match.objectLike({ AllowedMethods: ['GET', 'HEAD'] })]))
})
