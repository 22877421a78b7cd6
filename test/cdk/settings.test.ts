import { describe, expect, test } from 'vitest'
import { parseSettings } from '../../cdk/config/settings.ts'

const base = { prefix: 'Test', dataCentres: { us: { region: 'us-east-1' } }, defaultDataCentre: 'us' }

/** The faults of these settings, each with the name of its setting. */
const faultsOf = (settings: unknown): string[] => {
  try {
    parseSettings(settings)
    return []
  } catch (error) {
    const [, ...faults] = String(error).split('\n- ')
    return faults
  }
}

const withDataCentre = (dataCentre: object) => ({
  ...base,
  dataCentres: { us: { region: 'us-east-1', ...dataCentre } },
})
const withDomain = (customDomain: object, others: object = {}) =>
  withDataCentre({ customDomain: { domainName: 'us.example.com', ...customDomain }, ...others })
const hostedZoneId = 'Z0123456789'
const certificateIn = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/a`

describe('An app is refused with the name of the setting and the reason', () => {
  test.each<[string, unknown, RegExp]>([
    ['no settings', undefined, /^siteAdmin: is missing/],
    ['settings that are no JSON', '{prefix', /^siteAdmin: .*object/],
    ['a missing prefix', { ...base, prefix: undefined }, /^siteAdmin\.prefix: is missing/],
    ['a prefix that no stack can have', { ...base, prefix: '1st' }, /^siteAdmin\.prefix: must be 1 to 32 letters/],
    ['an unknown setting', { ...base, dataCenters: {} }, /^siteAdmin: There is no setting dataCenters\. .*dataCentres/],
    ['a text for a switch', { ...base, webApplicationFirewall: 'true' }, /webApplicationFirewall: .*boolean/],
    ['a number of days that is none', { ...base, keptDays: 0 }, /keptDays: /],
    [
      'an address instead of an origin',
      { ...base, uploadOrigins: ['https://a.com/'] },
      /uploadOrigins\.0: must be an origin/,
    ],
    ['half of the throttling', { ...base, throttling: { rate: 5 } }, /throttling\.burst: is missing/],
    ['a level that is none', { ...base, logLevel: 'info' }, /logLevel: .*INFO/],
    ['an address that is none', { ...base, alarmEmail: 'ops' }, /alarmEmail: /],
    ['a repository without an owner', { ...base, deploymentRole: { repository: 'a' } }, /repository: must be OWNER/],
    ['a region that is none', withDataCentre({ region: 'here' }), /dataCentres\.us\.region: must be a region/],
    ['a home that is no region', { ...base, directoryRegion: 'eu-wset-1' }, /directoryRegion: must be a region/],
    ['no data centre', { ...base, dataCentres: {} }, /defaultDataCentre: must be the id of a data centre/],
    ['a default named like a method', { ...base, defaultDataCentre: 'toString' }, /defaultDataCentre: must be the id/],
    [
      'a data centre whose stack would have the name of another',
      { ...base, dataCentres: { us: { region: 'us-east-1' }, edge: { region: 'us-east-1' } } },
      /dataCentres\.edge: must have another id/,
    ],
    [
      'an id in capitals',
      { ...base, dataCentres: { us: { region: 'us-east-1' }, EU: { region: 'eu-west-1' } } },
      /dataCentres\.EU: must have an id of/,
    ],
    [
      'data centres in two partitions',
      { ...base, dataCentres: { us: { region: 'us-east-1' }, cn: { region: 'cn-north-1' } } },
      /dataCentres: must be in the AWS partition/,
    ],
    ['a home in another partition', { ...base, directoryRegion: 'cn-north-1' }, /must be in the AWS partition/],
    [
      'a domain without a zone and a certificate',
      withDomain({}),
      /customDomain: needs a hostedZoneId, a certificateArn/,
    ],
    ...['https://us.example.com', 'us', '*.example.com', 'us..example.com'].map(
      (domainName): [string, unknown, RegExp] => [
        `a domain that is no host name: ${domainName}`,
        withDomain({ domainName, hostedZoneId }),
        /us\.customDomain\.domainName: must be a host name/,
      ],
    ),
    ['a zone by its name', withDomain({ hostedZoneId: 'example.com' }), /hostedZoneId: must be the id of a zone/],
    ['a certificate by its name', withDomain({ certificateArn: 'mine' }), /certificateArn: must be the ARN of a cert/],
    [
      'a certificate that CloudFront cannot use',
      withDomain({ certificateArn: certificateIn('eu-west-1') }, { region: 'eu-west-1', streaming: true }),
      /certificateArn: must be the ARN of a certificate in us-east-1/,
    ],
    [
      'one domain for two data centres',
      {
        ...base,
        dataCentres: {
          us: { region: 'us-east-1', customDomain: { domainName: 'example.com', hostedZoneId } },
          eu: { region: 'eu-west-1', customDomain: { domainName: 'example.com', hostedZoneId } },
        },
      },
      /dataCentres: must not share a domainName/,
    ],
    [
      'streaming where there is no CloudFront',
      withDataCentre({ region: 'us-gov-west-1', streaming: true }),
      /us\.streaming: must be false/,
    ],
    [
      'streaming on an emulator',
      { ...withDataCentre({ streaming: true }), emulatorEndpoint: 'http://127.0.0.1:4566' },
      /dataCentres: must not have streaming: emulators/,
    ],
    ['an emulator without a scheme', { ...base, emulatorEndpoint: '127.0.0.1:4566' }, /emulatorEndpoint: must begin/],
    ['paths as an emulator has them', { ...base, pathEncoding: 'decoded' }, /emulatorEndpoint: is missing/],
  ])('%s', (_, settings, fault) => {
    expect(faultsOf(settings)).toEqual([expect.stringMatching(fault)])
  })

  test('all faults at once', () => {
    expect(faultsOf({ ...base, keptDays: 0, logLevel: 'info', prefix: '' })).toHaveLength(3)
  })
})

describe('An app may have', () => {
  test.each<[string, unknown]>([
    ['settings as JSON of the command line', JSON.stringify(base)],
    [
      'a certificate of us-east-1 where a data centre elsewhere streams',
      withDomain({ certificateArn: certificateIn('us-east-1') }, { region: 'eu-west-1', streaming: true }),
    ],
    [
      'a domain in a partition of its own',
      withDomain({ certificateArn: 'arn:aws-cn:acm:cn-north-1:123456789012:certificate/a' }, { region: 'cn-north-1' }),
    ],
  ])('%s', (_, settings) => {
    expect(faultsOf(settings)).toEqual([])
  })
})
