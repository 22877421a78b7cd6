import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { afterAll, describe, expect, test } from 'vitest'
import { functionName, functionNames, functionSettings } from '../../cdk/functions.ts'
import { tables } from '../../lib/aws/tables.ts'
import { errors } from '../../lib/errors.ts'
import { corsHeaders } from '../../lib/http/cors.ts'
import { longestSilence } from '../../lib/storage/folder-removals.ts'
import { createTestApp, type Synthesised } from './support/synthesise.ts'

const synthesised: Synthesised[] = []

/** The templates of the app with these settings. */
const templatesOf = (settings: object = {}) => {
  const made = createTestApp(settings)
  synthesised.push(made)
  const stack = (name: string) => Template.fromJSON(made.app.synth().getStackByName(name).template)
  return { directory: stack('Test-directory'), us: stack('Test-us') }
}

afterAll(() => {
  for (const { remove } of synthesised) remove()
})

const { directory, us } = templatesOf()

const isGlobal = ({ global }: { readonly global: boolean }) => global
const countOf = (own: (table: { readonly global: boolean }) => boolean) => Object.values(tables).filter(own).length

describe('tables', () => {
  test('are on demand, encrypted, recoverable and kept when their stack goes', () => {
    for (const template of [directory, us]) {
      template.allResourcesProperties('AWS::DynamoDB::GlobalTable', { BillingMode: 'PAY_PER_REQUEST' })
      template.allResourcesProperties('AWS::DynamoDB::GlobalTable', { SSESpecification: { SSEEnabled: true } })
      template.allResources('AWS::DynamoDB::GlobalTable', { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' })
      const found = Object.values(template.findResources('AWS::DynamoDB::GlobalTable'))
      for (const { Properties } of found) {
        for (const replica of Properties.Replicas) {
          expect(replica.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled).toBe(true)
          expect(replica.DeletionProtectionEnabled).toBe(true)
        }
      }
    }
  })

  test('of the directory have a replica in every region, the others one in their own', () => {
    directory.resourceCountIs('AWS::DynamoDB::GlobalTable', countOf(isGlobal))
    directory.allResourcesProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [Match.objectLike({ Region: 'eu-west-1' }), Match.objectLike({ Region: 'us-east-1' })],
    })
    us.resourceCountIs(
      'AWS::DynamoDB::GlobalTable',
      countOf((table) => !isGlobal(table)),
    )
    us.allResourcesProperties('AWS::DynamoDB::GlobalTable', { Replicas: [Match.objectLike({ Region: 'us-east-1' })] })
  })

  test('forget what has expired', () => {
    directory.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      TableName: 'Test-tokens',
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    })
  })

  test('go with their stack when an installation says so', () => {
    const unprotected = templatesOf({ deletionProtection: false })
    unprotected.us.allResources('AWS::DynamoDB::GlobalTable', { DeletionPolicy: 'Delete' })
  })
})

describe('functions', () => {
  test('run on Node 24 on arm64, and log in JSON', () => {
    us.resourceCountIs('AWS::Lambda::Function', functionNames.length + 1)
    us.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      LoggingConfig: Match.objectLike({ LogFormat: 'JSON' }),
    })
  })

  test('are all in the guide’s table of what is deployed', () => {
    const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'deploying.md'), 'utf8')
    const names = [...functionNames.map(functionName), 'RegistrationFunction']
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
  })

  test('end before the gateway gives up on them', () => {
    for (const { Properties } of Object.values(us.findResources('AWS::Lambda::Function'))) {
      if (/^(fields|categories|storage)/i.test(Properties.Description)) expect(Properties.Timeout).toBeLessThan(29)
    }
  })

  test('invoke themselves by way of a queue without being stopped for it: the worker of removals, and no other', () => {
    const allowed = us.findResources('AWS::Lambda::Function', { Properties: { RecursiveLoop: 'Allow' } })
    expect(Object.values(allowed).map(({ Properties }) => Properties.Description)).toEqual([
      functionSettings.removals.description,
    ])
    us.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { RecursiveLoop: Match.absent() },
      Object.keys(us.findResources('AWS::Lambda::Function')).length - 1,
    )
  })

  test('are granted nothing by wildcard but the streams of their own log', () => {
    for (const { Properties } of Object.values(us.findResources('AWS::IAM::Policy'))) {
      for (const { Action } of Properties.PolicyDocument.Statement) {
        expect([Action].flat().filter((action: string) => action.includes('*'))).toEqual([])
      }
    }
  })
})

describe('the queue of removals', () => {
  const longestWork = functionSettings.removals.timeout.toSeconds()

  test('is worked off by five workers at most, a message each', () => {
    us.allResourcesProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 5 },
    })
  })

  test('delivers a message again when its worker has ended for long, and before its removal is given up for lost', () => {
    const visibility = 6 * longestWork
    us.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: visibility,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 5 }),
    })
    expect((visibility + longestWork) * 1000).toBeLessThan(longestSilence)
  })
})

describe('the gateway', () => {
  const gatewayResponses = new Map(
    Object.values(us.findResources('AWS::ApiGateway::GatewayResponse')).map(({ Properties }) => [
      Properties.ResponseType,
      Properties,
    ]),
  )

  test('hands every request on: ANY on every resource, none of them with checks of its own', () => {
    us.allResourcesProperties('AWS::ApiGateway::Method', { HttpMethod: 'ANY', AuthorizationType: 'NONE' })
    const resources = Object.keys(us.findResources('AWS::ApiGateway::Resource'))
    us.resourceCountIs('AWS::ApiGateway::Method', resources.length + 1)
  })

  test('passes every body as it is', () => {
    us.hasResourceProperties('AWS::ApiGateway::RestApi', {
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
    })
  })

  test('is throttled, and logs neither queries nor executions that went well', () => {
    us.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({ ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000, LoggingLevel: 'ERROR' }),
      ],
      AccessLogSetting: { Format: Match.not(Match.stringLikeRegexp('query|[hH]eader|authoriz')) },
    })
    us.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [Match.objectLike({ DataTraceEnabled: false })],
    })
  })

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
    ['DEFAULT_5XX', errors.unexpected],
  ])('refuses with the service’s own error body and headers: %s', (type, { status, code }, retryAfter) => {
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

  test('refuses in a way of its own nothing but what these cases name', () => {
    expect(gatewayResponses.size).toBe(11)
  })

  test('names the limit that callers meet when a request is too large for it, or for a function', () => {
    for (const type of ['REQUEST_TOO_LARGE', 'DEFAULT_4XX']) {
      expect(gatewayResponses.get(type).ResponseTemplates['application/json']).toContain('4.5 MB')
    }
  })

  test('has a domain and a firewall when an installation chooses them', () => {
    us.resourceCountIs('AWS::WAFv2::WebACL', 0)
    const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0'
    const customDomain = { domainName: 'us.example.com', certificateArn }
    const chosen = templatesOf({
      webApplicationFirewall: true,
      dataCentres: { us: { region: 'us-east-1', customDomain } },
    })
    chosen.us.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'us.example.com',
      RegionalCertificateArn: certificateArn,
    })
    chosen.us.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1)
    chosen.us.hasResourceProperties('AWS::CloudFormation::CustomResource', { url: 'https://us.example.com' })
  })
})

describe('logs', () => {
  test('are kept for a month', () => {
    us.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 })
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

describe('registration', () => {
  test('writes the base URL of the data centre into the directory next to it', () => {
    us.hasResourceProperties('AWS::CloudFormation::CustomResource', {
      id: 'us',
      region: 'us-east-1',
      isDefault: true,
      url: { 'Fn::Join': ['', Match.arrayWith(['https://', '.execute-api.us-east-1.amazonaws.com/live'])] },
    })
    us.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { SITES_TABLE: Match.anyValue(), DIRECTORY_REGION: 'us-east-1' } },
    })
  })
})

describe('settings', () => {
  test.each<[string, object, RegExp]>([
    ['a default data centre that is none', { defaultDataCentre: 'asia' }, /defaultDataCentre/],
    ['a region that is none', { dataCentres: { us: { region: 'here' } } }, /dataCentres/],
    ['a member that is none', { dataCenters: {} }, /dataCenters/],
  ])('name what is wrong: %s', (_, settings, pattern) => {
    expect(() => createTestApp(settings)).toThrow(pattern)
  })
})
