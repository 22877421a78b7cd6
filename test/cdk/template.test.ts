import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { functionName, functionNames, functionSettings } from '../../cdk/functions.ts'
import { errors } from '../../lib/errors.ts'
import { corsHeaders } from '../../lib/http/cors.ts'
import { longestSilence } from '../../lib/storage/folder-removals.ts'
import { createTestApp, templatesOf } from './support/synthesise.ts'

const { us } = templatesOf()

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
      BinaryMediaTypes: Match.arrayWith(['*/*']),
      EndpointConfiguration: { Types: ['REGIONAL'] },
    })
  })

  test('says so by type as well, for a gateway that does not know the type of everything', () => {
    us.hasResourceProperties('AWS::ApiGateway::RestApi', {
      BinaryMediaTypes: Match.arrayWith(['application/*', 'image/*', 'multipart/*', 'video/*']),
    })
  })

  test('is throttled, logs no queries, keeps no log of executions and counts nothing by method', () => {
    us.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({
          ThrottlingRateLimit: 500,
          ThrottlingBurstLimit: 1000,
          LoggingLevel: 'OFF',
          MetricsEnabled: false,
        }),
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
    ['DEFAULT_5XX', errors.unavailable, '1'],
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

  test.each(['INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX'])(
    'says that a change may have been carried out, and that it may be repeated, when no function answers: %s',
    (type) => {
      const { message } = JSON.parse(gatewayResponses.get(type).ResponseTemplates['application/json'])
      expect(message).toMatch(/may have been carried out/)
      expect(message).toMatch(/repeating it is safe/)
    },
  )

  test('has a firewall when an installation chooses it', () => {
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

describe('settings', () => {
  test.each<[string, object, RegExp]>([
    ['a default data centre that is none', { defaultDataCentre: 'asia' }, /defaultDataCentre/],
    ['a region that is none', { dataCentres: { us: { region: 'here' } } }, /dataCentres/],
    [
      'a domain without a zone and a certificate',
      { dataCentres: { us: { region: 'us-east-1', customDomain: { domainName: 'us.example.com' } } } },
      /hostedZoneId.*customDomain/s,
    ],
    ['a repository without an owner', { deploymentRole: { repository: 'site-admin' } }, /deploymentRole/],
    ['a member that is none', { dataCenters: {} }, /dataCenters/],
  ])('name what is wrong: %s', (_, settings, pattern) => {
    expect(() => createTestApp(settings)).toThrow(pattern)
  })
})
