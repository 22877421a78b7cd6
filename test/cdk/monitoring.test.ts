import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { functionNames } from '../../cdk/functions.ts'
import { tables } from '../../lib/aws/tables.ts'
import { logLevels } from '../../lib/config.ts'
import { templatesOf } from './support/synthesise.ts'

const { directory, us } = templatesOf()

describe('logs', () => {
  test('are kept for a month', () => {
    us.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 })
  })

  test('of every function go to such a group, and to none that Lambda makes and nothing empties', () => {
    for (const template of [directory, us]) {
      const groups = Object.keys(template.findResources('AWS::Logs::LogGroup'))
      for (const { Properties } of Object.values(template.findResources('AWS::Lambda::Function'))) {
        expect(groups).toContain(Properties.LoggingConfig.LogGroup.Ref)
      }
    }
  })

  test.each(logLevels)('have what an installation wants, from %s on, wherever it is decided', (logLevel) => {
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
  test('say what callers notice and what to do, and tell nobody unless asked to', () => {
    const alarms = Object.values(us.findResources('AWS::CloudWatch::Alarm'))
    expect(alarms.length).toBeGreaterThan(5)
    for (const { Properties } of alarms) {
      expect(Properties.AlarmDescription).toMatch(/^\S.*[.] .*\S[.]$/)
      expect(Properties.AlarmActions).toBeUndefined()
    }
    us.resourceCountIs('AWS::SNS::Topic', 0)
  })

  test('watch the gateway of their own data centre, and no other', () => {
    us.hasResourceProperties('AWS::ApiGateway::RestApi', { Name: 'Test-us' })
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: '5XXError',
      Dimensions: [{ Name: 'ApiName', Value: 'Test-us' }],
    })
  })

  test('go off when changes of the directory take long to reach another region, where it is replicated', () => {
    for (const table of ['Test-sites', 'Test-tokens']) {
      us.hasResourceProperties('AWS::CloudWatch::Alarm', {
        Namespace: 'AWS/DynamoDB',
        MetricName: 'ReplicationLatency',
        Dimensions: Match.arrayWith([{ Name: 'ReceivingRegion', Value: 'eu-west-1' }]),
        Statistic: 'Maximum',
        Threshold: 40_000,
        AlarmDescription: Match.stringLikeRegexp(`${table.slice(5)} reach eu-west-1`),
      })
    }
    const alone = templatesOf({ replicateDirectory: false })
    alone.us.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', { MetricName: 'ReplicationLatency' }, 0)
  })

  test('go off when a removal waits for half an hour, or was given up', () => {
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Statistic: 'Maximum',
      Threshold: 1800,
    })
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Threshold: 0,
    })
  })

  test.each(['AWS/Lambda Throttles', 'AWS/DynamoDB ReadThrottleEvents', 'AWS/DynamoDB WriteThrottleEvents'])(
    'go off when too much is asked of functions and tables: %s',
    (metric) => {
      const [Namespace, MetricName] = metric.split(' ')
      const kind = Namespace === 'AWS/Lambda' ? functionNames.length : Object.keys(tables).length
      us.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', { Namespace, MetricName }, kind)
    },
  )

  test('are as many as the guide says that they cost', () => {
    const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'deploying.md'), 'utf8')
    const [, said] = /alarms \((\d+) in each of two data centres/.exec(guide) ?? []
    expect(Number(said)).toBe(Object.keys(us.findResources('AWS::CloudWatch::Alarm')).length)
  })

  test('are sent to the address of the installation', () => {
    const told = templatesOf({ alarmEmail: 'ops@example.com' })
    told.us.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' })
    told.us.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [Match.anyValue()] })
    told.us.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Allow',
            Action: 'sns:Publish',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
          }),
        ]),
      },
    })
  })
})

describe('the dashboard', () => {
  test('shows what functions write of their requests, by operation, and the queue of removals', () => {
    const [dashboard] = Object.values(us.findResources('AWS::CloudWatch::Dashboard'))
    const body = JSON.stringify(dashboard?.Properties.DashboardBody)
    expect(body).toContain('stats count(*) as requests, pct(durationMs, 50)')
    expect(body).toContain('ApproximateAgeOfOldestMessage')
    expect(body).toContain('ReplicationLatency')
  })
})
