import type { Template } from 'aws-cdk-lib/assertions'
import { afterEach, expect, test, vi } from 'vitest'
import { type Chosen, type DataCentre, dataCentresOf, factors, settingsOf } from '../support/choices.ts'
import { inPairs } from '../support/pairs.ts'
import { synthesiseChecked } from '../support/synthesise.ts'

const accountOf = 'CDK_DEFAULT_ACCOUNT'

const counted = [
  ...['AWS::CloudFront::Distribution', 'AWS::Lambda::WebFunction', 'AWS::SecretsManager::Secret'],
  ...['AWS::ApiGateway::DomainName', 'AWS::Route53::RecordSet', 'AWS::CertificateManager::Certificate'],
  ...['AWS::WAFv2::WebACL', 'AWS::Events::EventBus', 'AWS::Pipes::Pipe', 'AWS::KMS::Key'],
] as const
type Counts = Partial<Record<(typeof counted)[number], number>>

const present = (counts: Counts): Counts => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))

const countsIn = (template: Template | undefined): Counts =>
  present(Object.fromEntries(counted.map((type) => [type, Object.keys(template?.findResources(type) ?? {}).length])))

/** The resources that the settings add to a data centre. */
const wantedOf = ({ firewall, changeEvents, webhooks }: Chosen, { streaming, customDomain }: DataCentre): Counts => {
  const isMade = customDomain && !customDomain.certificateArn
  const addresses = streaming ? 2 : 1
  return present({
    'AWS::CloudFront::Distribution': Number(streaming),
    'AWS::Lambda::WebFunction': Number(streaming),
    'AWS::SecretsManager::Secret': Number(streaming),
    'AWS::ApiGateway::DomainName': Number(Boolean(customDomain && !streaming)),
    'AWS::Route53::RecordSet': customDomain?.hostedZoneId ? addresses : 0,
    'AWS::CertificateManager::Certificate': Number(Boolean(isMade && !streaming)),
    'AWS::WAFv2::WebACL': Number(firewall),
    'AWS::Events::EventBus': Number(changeEvents),
    'AWS::Pipes::Pipe': Number(changeEvents),
    'AWS::KMS::Key': Number(webhooks),
  })
}

/** The resources that distributions need in us-east-1. */
const wantedOnEdge = ({ firewall }: Chosen, dataCentres: readonly DataCentre[]): Counts => {
  const streaming = dataCentres.filter((dataCentre) => dataCentre.streaming)
  const made = streaming.filter(({ customDomain }) => customDomain && !customDomain.certificateArn)
  return present({
    'AWS::CertificateManager::Certificate': made.length,
    'AWS::WAFv2::WebACL': firewall ? streaming.length : 0,
  })
}

/** The regions in which a role may assume the bootstrap roles. */
const regionsIn = (directory: Template | undefined): string[] => {
  const policies = JSON.stringify(directory?.findResources('AWS::IAM::Policy'))
  return [...new Set([...policies.matchAll(/deploy-role-.*?-([a-z]+-[a-z]+-\d)"/g)].map(([, region = '']) => region))]
}

const accounts = { 'the account of a deployment': '123456789012', 'no account': undefined } as const

/** An app may know the account of its deployment, or not. */
const choices = inPairs({ ...factors, account: ['the account of a deployment', 'no account'] })

const named = (chosen: object): string =>
  Object.entries(chosen)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

afterEach(() => void vi.unstubAllEnvs())

test.each(choices.map((chosen) => [named(chosen), chosen] as const))(
  'A CDK app has the resources of its settings, and violates no rule of cdk-nag: %s',
  (_, chosen) => {
    vi.stubEnv(accountOf, accounts[chosen.account])
    const dataCentres = dataCentresOf(chosen)
    const { findings, warnings, templates } = synthesiseChecked(settingsOf(chosen))
    expect(findings).toEqual([])
    expect(warnings).toEqual(chosen.home === 'not named' ? [expect.stringContaining('directoryRegion')] : [])

    const edge = wantedOnEdge(chosen, Object.values(dataCentres))
    const watchStacks = Object.values(dataCentres).some((dataCentre) => dataCentre.streaming) ? ['watch'] : []
    const edgeStacks = Object.keys(edge).length > 0 ? ['edge'] : []
    expect([...templates.keys()].sort()).toEqual(
      [...Object.keys(dataCentres), 'directory', ...edgeStacks, ...watchStacks].sort(),
    )
    expect(countsIn(templates.get('edge'))).toEqual(edge)
    for (const [id, dataCentre] of Object.entries(dataCentres)) {
      expect(countsIn(templates.get(id)), id).toEqual(wantedOf(chosen, dataCentre))
    }

    const regions = Object.values(dataCentres).map(({ region }) => region)
    const home = chosen.home === 'not named' ? chosen.firstRegion : chosen.home
    const atHome = new Set([home, ...regions])
    const tables = Object.values(templates.get('directory')?.findResources('AWS::DynamoDB::GlobalTable') ?? {})
    expect(tables.map(({ Properties }) => Properties.Replicas.length)).toEqual([atHome.size, atHome.size, atHome.size])
    const deployed = new Set([...atHome, ...watchStacks.map(() => 'us-east-1')])
    expect(regionsIn(templates.get('directory')).sort()).toEqual([...deployed].sort())
  },
)
