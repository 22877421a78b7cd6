import { Match, type Template } from 'aws-cdk-lib/assertions'
import { describe, expect, test } from 'vitest'
import { endpointLimits } from '../../cdk/config/web-functions.ts'
import { streaming } from '../../lib/config/streaming.ts'
import { templatesOf } from './support/synthesise.ts'

const { us, eu, edge, watch } = templatesOf({
  webApplicationFirewall: true,
  dataCentres: {
    us: { region: 'us-east-1', streaming: true },
    eu: {
      region: 'eu-west-1',
      streaming: true,
      originSecret: 3,
      customDomain: { domainName: 'eu.example.com', hostedZoneId: 'Z0123456789' },
    },
  },
})
/** The only resource of a type. */
const only = (template: Template, type: string) => {
  const [found, ...others] = Object.values(template.findResources(type))
  if (!found || others.length > 0) throw new Error(`The template does not have exactly one ${type}`)
  return found['Properties']
}

const distributionOf = (template: Template) => only(template, 'AWS::CloudFront::Distribution').DistributionConfig
const revisionOf = (template: Template) => only(template, 'AWS::Lambda::WebFunctionRevision').ServiceConfig

/** The secrets that a text refers to, by their logical ids. */
const secretsIn = (text: object): string[] =>
  [...JSON.stringify(text).matchAll(/"Ref":"([^"]*OriginSecret[^"]*)"/g)].map(([, id = '']) => id)

describe('the distribution of a data centre that streams', () => {
  test('requests for files reach the function, and all others the gateway (S-105)', () => {
    const { CacheBehaviors, DefaultCacheBehavior, Origins } = distributionOf(us)
    const hostOf = (id: string) => JSON.stringify(Origins.find(({ Id }: { Id: string }) => Id === id).DomainName)
    const areas = ['storage', 'uploads', 'changes'].map((area) => `/api/v2/admin/sites/*/${area}`)
    expect(CacheBehaviors.map(({ PathPattern }: { PathPattern: string }) => PathPattern)).toEqual(
      areas.flatMap((area) => [area, `${area}/*`]),
    )
    expect(hostOf(CacheBehaviors[0].TargetOriginId)).toMatch(/StreamingLambdaEndpoint/)
    expect(hostOf(DefaultCacheBehavior.TargetOriginId)).toMatch(/execute-api/)
  })

  test('the distribution waits for an answer as long as the function expects', () => {
    const stream = distributionOf(us).Origins.find(
      ({ DomainName }: { DomainName: object }) => !JSON.stringify(DomainName).includes('execute-api'),
    )
    expect(stream.CustomOriginConfig).toEqual({
      OriginProtocolPolicy: 'https-only',
      OriginReadTimeout: streaming.longestWait,
      OriginSSLProtocols: ['TLSv1.2'],
    })
  })

  test('the base URL is the address of the distribution, or the custom domain', () => {
    const urlOf = (template: Template) => JSON.stringify(only(template, 'Custom::DataCentre').url)
    expect(urlOf(us)).toMatch(/https:\/\/.*StreamingDistribution.*DomainName/)
    expect(urlOf(eu)).toBe('"https://eu.example.com"')
  })

  test('the data centre is registered after its distribution exists', () => {
    const [registration] = Object.values(us.findResources('Custom::DataCentre'))
    expect(registration?.['DependsOn']).toEqual(
      expect.arrayContaining([expect.stringMatching(/StreamingDistribution/)]),
    )
  })
})

describe('the gateway of a data centre that streams', () => {
  const ruleOf = (template: Template) => only(template, 'AWS::WAFv2::WebACL').Rules[0]

  test('the firewall refuses requests without a secret of the distribution', () => {
    for (const template of [us, eu]) {
      const { DefaultAction, Scope } = only(template, 'AWS::WAFv2::WebACL')
      expect({ DefaultAction, Scope }).toEqual({ DefaultAction: { Block: {} }, Scope: 'REGIONAL' })
      const { Action, Statement } = ruleOf(template)
      expect(Action).toEqual({ Allow: {} })
      const [match] = Statement.OrStatement?.Statements ?? [Statement]
      expect(match.ByteMatchStatement).toMatchObject({
        FieldToMatch: { SingleHeader: { Name: streaming.secretHeader } },
        PositionalConstraint: 'EXACTLY',
      })
      template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1)
    }
  })

  test('the distribution sends the current secret, and the previous one is accepted', () => {
    expect(secretsIn(ruleOf(eu).Statement)).toEqual(secretsIn(revisionOf(eu).EnvironmentVariables))
    const sent = distributionOf(eu).Origins.map(({ OriginCustomHeaders }: { OriginCustomHeaders: object }) =>
      secretsIn(OriginCustomHeaders),
    )
    expect(sent).toEqual([[expect.stringMatching(/OriginSecret3/)], [expect.stringMatching(/OriginSecret3/)]])
  })

  test('without a firewall at the distribution, anyone can call the gateway', () => {
    const open = templatesOf({ dataCentres: { us: { region: 'us-east-1', streaming: true } } })
    open.us.resourceCountIs('AWS::WAFv2::WebACL', 0)
  })
})

describe('the stack that watches distributions', () => {
  test('each request is logged with the address of the caller, without the query', () => {
    watch.resourceCountIs('AWS::Logs::Delivery', 2)
    for (const { Properties } of Object.values(watch.findResources('AWS::Logs::Delivery'))) {
      expect(Properties.RecordFields).toEqual(expect.arrayContaining(['c-ip', 'cs-uri-stem', 'sc-status']))
      expect(Properties.RecordFields.join()).not.toMatch(/query|referer|cookie/i)
    }
    watch.allResourcesProperties('AWS::Logs::DeliverySource', { LogType: 'ACCESS_LOGS' })
    watch.allResourcesProperties('AWS::Logs::DeliveryDestination', { OutputFormat: 'json' })
    watch.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 })
  })

  test('alarms go off when a distribution fails or is slow', () => {
    for (const MetricName of ['5xxErrorRate', 'OriginLatency']) {
      watch.resourcePropertiesCountIs('AWS::CloudWatch::Alarm', { Namespace: 'AWS/CloudFront', MetricName }, 2)
    }
    us.resourceCountIs('AWS::CloudFront::MonitoringSubscription', 1)
  })
})

describe('the function that streams', () => {
  test.each([
    [
      { rate: 500, burst: 1000 },
      { maxEnvironments: 63, rateLimit: 500 },
    ],
    [
      { rate: 1, burst: 1 },
      { maxEnvironments: 2, rateLimit: 100 },
    ],
    [
      { rate: 1001, burst: 1 },
      { maxEnvironments: 2, rateLimit: 2000 },
    ],
    [
      { rate: 20_000, burst: 160_000 },
      { maxEnvironments: 10_000, rateLimit: 10_000 },
    ],
  ])('the function is throttled like the gateway, in steps of Lambda: %o', (throttling, wanted) => {
    expect(endpointLimits(throttling)).toEqual(wanted)
  })

  test('the alarm counts the failures that Lambda reports, not words in a log', () => {
    us.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda/Web',
      MetricName: 'HTTPResponseStatusClass5XX',
      Dimensions: Match.arrayWith([{ Name: 'EndpointName', Value: 'prod' }]),
    })
    expect(JSON.stringify(us.findResources('AWS::Logs::MetricFilter'))).not.toContain('ERROR')
  })

  test('the function knows both secrets, and the templates contain neither', () => {
    const sent = (template: Template) => [
      ...new Set(
        secretsIn(distributionOf(template).Origins.flatMap(({ OriginCustomHeaders = [] }) => OriginCustomHeaders)),
      ),
    ]
    const known = (template: Template) => secretsIn(revisionOf(template).EnvironmentVariables['ORIGIN_SECRETS'])
    expect(known(us)).toEqual(sent(us))
    const [present] = sent(eu)
    expect(present).toMatch(/OriginSecret3/)
    expect(known(eu)).toEqual([present, expect.stringMatching(/OriginSecret2/)])
    eu.allResourcesProperties('AWS::SecretsManager::Secret', {
      GenerateSecretString: { PasswordLength: 48, ExcludePunctuation: true },
      SecretString: Match.absent(),
    })
  })

  test('the function accepts files of the same size as one machine (S-106)', () => {
    expect(Object.keys(revisionOf(us).EnvironmentVariables)).not.toContain('LARGEST_FILE')
  })

  test('the function may do what the storage function may do, and write its log', () => {
    const statementsOf = (name: RegExp) => {
      const policies = Object.entries(us.findResources('AWS::IAM::Policy'))
      const [, policy] = policies.find(([id]) => name.test(id)) ?? []
      return policy?.['Properties'].PolicyDocument.Statement.filter(
        ({ Action }: { Action: string | string[] }) => ![Action].flat().some((action) => action.startsWith('logs:')),
      )
    }
    expect(statementsOf(/^StreamingRole/)).toEqual(statementsOf(/^StorageFunction/))
    us.hasResourceProperties('AWS::Lambda::WebFunctionRevision', {
      ServiceConfig: { ExecutionRoleArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^StreamingRole'), 'Arn'] } },
    })
  })
})

describe('resources that CloudFront reads only in one region', () => {
  test('one stack has the certificates of domains and the firewalls of distributions', () => {
    expect(only(edge, 'AWS::CertificateManager::Certificate').DomainName).toBe('eu.example.com')
    edge.allResourcesProperties('AWS::WAFv2::WebACL', { Scope: 'CLOUDFRONT' })
    edge.resourceCountIs('AWS::WAFv2::WebACL', 2)
    for (const template of [us, eu]) expect(distributionOf(template).WebACLId).toBeDefined()
  })
})

describe.each(['us-east-1', 'eu-west-1'])('the certificate of a domain that streams from %s', (region) => {
  const withDomain = (domainName: string) =>
    templatesOf({
      directoryRegion: 'us-east-1',
      dataCentres: {
        us: { region, streaming: true, customDomain: { domainName, hostedZoneId: 'Z0123456789' } },
      },
    })

  /** The certificate that the distribution reads from the edge stack. */
  const certificateRead = (all: ReturnType<typeof templatesOf>) => {
    const read = distributionOf(all.us).ViewerCertificate.AcmCertificateArn['Fn::GetStackOutput']
    expect(read).toMatchObject({ StackName: 'Test-edge', Region: 'us-east-1' })
    const { Value, Export } = all.edge.toJSON().Outputs[read.OutputName]
    // CloudFormation refuses to change an export that another stack imports.
    expect(Export).toBeUndefined()
    return all.edge.toJSON().Resources[Value.Ref]
  }

  test('a change of the domain replaces the certificate in the next deployment', () => {
    for (const domainName of ['a.example.com', 'b.example.com']) {
      const all = withDomain(domainName)
      expect(certificateRead(all)).toMatchObject({ Properties: { DomainName: domainName } })
      for (const template of Object.values(all)) {
        expect(JSON.stringify(template.toJSON())).not.toMatch(/ImportValue|CrossRegionExport|cdk\/exports/)
      }
    }
  })

  test('a replaced certificate remains, because the distribution still uses it', () => {
    expect(certificateRead(withDomain('a.example.com'))).toMatchObject({
      UpdateReplacePolicy: 'Retain',
      DeletionPolicy: 'RetainExceptOnCreate',
    })
  })
})

describe('a data centre that starts to stream', () => {
  const customDomain = { domainName: 'us.example.com', hostedZoneId: 'Z0123456789' }
  const plain = templatesOf({ dataCentres: { us: { region: 'us-east-1', customDomain } } })

  test('turning on streaming moves the DNS record of the domain to the distribution', () => {
    const records = Object.keys(plain.us.findResources('AWS::Route53::RecordSet'))
    expect(records).toHaveLength(1)
    expect(Object.keys(eu.findResources('AWS::Route53::RecordSet'))).toEqual(expect.arrayContaining(records))
  })
})
