import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { parseSettings } from '../../cdk/config/settings.ts'
import { templatesOf } from './support/synthesise.ts'

const { us } = templatesOf()

const withDomain = (customDomain: object) =>
  templatesOf({ dataCentres: { us: { region: 'us-east-1', customDomain } } }).us

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0'
const zoned = withDomain({ domainName: 'us.example.com', hostedZoneId: 'Z0123456789' })
const certified = withDomain({ domainName: 'us.example.com', certificateArn })

/** The resource types that the registration waits for. */
const awaitedBy = (template: Template): string[] => {
  const resources = template.toJSON().Resources
  const [registration] = Object.values(template.findResources('Custom::DataCentre'))
  return [...new Set([registration?.['DependsOn']].flat().map((id: string) => resources[id].Type))].sort()
}

describe('the entrance of a data centre', () => {
  test('callers need TLS 1.2 or newer, at the API and at its domain', () => {
    const security = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09', EndpointAccessMode: 'STRICT' }
    for (const template of [us, zoned, certified]) template.allResourcesProperties('AWS::ApiGateway::RestApi', security)
    for (const template of [zoned, certified]) template.allResourcesProperties('AWS::ApiGateway::DomainName', security)
    us.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } }),
        ]),
      },
    })
    us.allResourcesProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      },
    })
  })

  test('callers reach a data centre with a domain only by that domain', () => {
    us.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: false })
    for (const template of [zoned, certified]) {
      template.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true })
      template.hasResourceProperties('Custom::DataCentre', { url: 'https://us.example.com' })
    }
  })
})

describe('pages of the console', () => {
  test('pages may download from the emulator, if the service runs on an emulator', () => {
    const emulated = templatesOf({ emulatorEndpoint: 'http://127.0.0.1:4566' }).us
    emulated.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ DOWNLOADS_URL: 'http://127.0.0.1:4566' }) },
    })
  })
})

describe('a custom domain', () => {
  test('a domain with a hosted zone gets a certificate and a DNS record', () => {
    zoned.hasResourceProperties('AWS::CertificateManager::Certificate', {
      DomainName: 'us.example.com',
      ValidationMethod: 'DNS',
      DomainValidationOptions: [{ DomainName: 'us.example.com', HostedZoneId: 'Z0123456789' }],
    })
    zoned.hasResourceProperties('AWS::Route53::RecordSet', {
      Name: 'us.example.com.',
      Type: 'A',
      HostedZoneId: 'Z0123456789',
      AliasTarget: { DNSName: { 'Fn::GetAtt': [Match.anyValue(), 'RegionalDomainName'] } },
    })
  })

  test('a given certificate is used, and only a hosted zone gets a DNS record', () => {
    const both = withDomain({ domainName: 'us.example.com', hostedZoneId: 'Z0123456789', certificateArn })
    for (const template of [certified, both]) {
      template.resourceCountIs('AWS::CertificateManager::Certificate', 0)
      template.hasResourceProperties('AWS::ApiGateway::DomainName', { RegionalCertificateArn: certificateArn })
    }
    certified.resourceCountIs('AWS::Route53::RecordSet', 0)
    both.resourceCountIs('AWS::Route53::RecordSet', 1)
  })
})

describe('registration', () => {
  test('the registration waits for every resource that callers need', () => {
    expect(awaitedBy(us)).toEqual(['AWS::ApiGateway::Stage'])
    expect(awaitedBy(certified)).toEqual(['AWS::ApiGateway::BasePathMapping', 'AWS::ApiGateway::DomainName'])
    expect(awaitedBy(zoned)).toEqual([
      'AWS::ApiGateway::BasePathMapping',
      'AWS::ApiGateway::DomainName',
      'AWS::Route53::RecordSet',
    ])
  })
})

describe('the partition of AWS', () => {
  test('templates contain the partition of the region, not a fixed partition', () => {
    const { directory, us: elsewhere } = templatesOf({
      dataCentres: { us: { region: 'cn-north-1' } },
      alarmEmail: 'ops@example.com',
      webApplicationFirewall: true,
      deploymentRole: { repository: 'example/site-admin' },
    })
    for (const template of [directory, elsewhere]) {
      const text = JSON.stringify(template.toJSON()).replaceAll(/"[a-z]+\.amazonaws\.com"/g, '"a service"')
      expect(text).not.toMatch(/arn:aws|amazonaws/)
    }
  })

  test('a data centre may be in any partition', () => {
    const regions = ['cn-north-1', 'us-gov-west-1', 'us-iso-east-1', 'eusc-de-east-1', 'ap-southeast-2']
    const settingsFor = (region: string) => ({
      prefix: 'Test',
      dataCentres: { us: { region } },
      defaultDataCentre: 'us',
    })
    expect(() => regions.map((region) => parseSettings(settingsFor(region)))).not.toThrow()
  })
})
