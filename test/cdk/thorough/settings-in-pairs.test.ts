import type { Template } from 'aws-cdk-lib/assertions'
import { afterEach, expect, test, vi } from 'vitest'
import { dataCentresOf, factors, settingsOf } from '../support/choices.ts'
import { inPairs } from '../support/pairs.ts'
import { synthesiseChecked } from '../support/synthesise.ts'

const accounts = { 'the account of a deployment': '123456789012', 'no account': undefined } as const

/** An app may know the account of its deployment, or not. */
const choices = inPairs({ ...factors, account: ['the account of a deployment', 'no account'] })

const named = (chosen: object): string =>
  Object.entries(chosen)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const countIn = (template: Template | undefined, type: string): number =>
  Object.keys(template?.findResources(`AWS::${type}`) ?? {}).length

/** The regions in which a role may assume the bootstrap roles. */
const regionsIn = (directory: Template | undefined): string[] => {
  const policies = JSON.stringify(directory?.findResources('AWS::IAM::Policy'))
  return [...new Set([...policies.matchAll(/deploy-role-.*?-([a-z]+-[a-z]+-\d)"/g)].map(([, region = '']) => region))]
}

afterEach(() => void vi.unstubAllEnvs())

test.each(choices.map((chosen) => [named(chosen), chosen] as const))(
  'A CDK app has the resources of its settings, and violates no rule of cdk-nag: %s',
  (_, chosen) => {
    vi.stubEnv('CDK_DEFAULT_ACCOUNT', accounts[chosen.account])
    const { findings, warnings, templates } = synthesiseChecked(settingsOf(chosen))
    expect(findings).toEqual([])
    expect(warnings).toEqual(chosen.home === 'not named' ? [expect.stringContaining('directoryRegion')] : [])

    const dataCentres = Object.entries(dataCentresOf(chosen))
    const makesCertificates = chosen.domain === 'zone'
    for (const [id, { streaming }] of dataCentres) {
      const template = templates.get(id)
      expect(countIn(template, 'CloudFront::Distribution'), id).toBe(Number(streaming))
      expect(countIn(template, 'CertificateManager::Certificate'), id).toBe(Number(makesCertificates && !streaming))
      const records = streaming ? 2 : 1
      expect(countIn(template, 'Route53::RecordSet'), id).toBe(chosen.domain.includes('zone') ? records : 0)
    }
    const { length: distributions } = dataCentres.filter(([, { streaming }]) => streaming)
    const edge = templates.get('edge')
    expect(countIn(edge, 'CertificateManager::Certificate')).toBe(makesCertificates ? distributions : 0)
    expect(countIn(edge, 'WAFv2::WebACL')).toBe(chosen.firewall ? distributions : 0)
    expect(templates.has('watch')).toBe(distributions > 0)

    const home = chosen.home === 'not named' ? chosen.firstRegion : chosen.home
    const ofWatch = distributions > 0 ? ['us-east-1'] : []
    const regions = new Set([home, ...dataCentres.map(([, { region }]) => region), ...ofWatch])
    expect(regionsIn(templates.get('directory')).sort()).toEqual([...regions].sort())
  },
)
