import { expect, test } from 'vitest'
import { parseSettings } from '../../cdk/config/settings.ts'
import { messages } from '../support/messages.ts'
import { launch } from '../support/program.ts'

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

/** Settings of data centres by id, with the region of each. */
const withRegions = (regions: Readonly<Record<string, string>>) => ({
  ...base,
  dataCentres: Object.fromEntries(Object.entries(regions).map(([id, region]) => [id, { region }])),
})
const withDataCentre = (own: object) => ({ ...base, dataCentres: { us: { region: 'us-east-1', ...own } } })
const withDomain = (customDomain: object, others: object = {}) =>
  withDataCentre({ customDomain: { domainName: 'us.example.com', ...customDomain }, ...others })
const hostedZoneId = 'Z0123456789'
const certificateIn = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/a`

const says = messages.settings

type Row = [what: string, settings: unknown, fault: string | RegExp]

test.each<Row>([
  ['missing settings', undefined, `siteAdmin: ${says.missing}`],
  ['settings that are not JSON', '{prefix', `siteAdmin: ${says.object}`],
  ['a missing prefix', { ...base, prefix: undefined }, `siteAdmin.prefix: ${says.missing}`],
  ['a prefix that no stack can have', { ...base, prefix: '1st' }, 'siteAdmin.prefix: must be 1 to 32 letters'],
  ['an unknown setting', { ...base, dataCenters: {} }, 'siteAdmin: There is no setting dataCenters. '],
  ['a text for a switch', { ...base, webApplicationFirewall: 'true' }, 'Firewall: must be true or false, without'],
  ['a text for a number', { ...base, keptDays: '30' }, 'keptDays: must be a number, without quotes'],
  ['a fraction of a day', { ...base, keptDays: 1.5 }, 'keptDays: must be a whole number'],
  ['too few days', { ...base, keptDays: 0 }, `keptDays: ${says.atLeast(1)}`],
  ['too many days', { ...base, keptDays: 3651 }, 'keptDays: must be at most 3650'],
  ...['perToken', 'perSite'].map((name): Row => {
    const limits = { perToken: 0, perSite: 0, [name]: 1_000_001 }
    return [`a limit that no function accepts: ${name}`, { ...base, requestLimits: limits }, `${name}: must be at most`]
  }),
  ['a number for a text', { ...base, prefix: 5 }, 'prefix: must be a text in quotes'],
  ['a list for an object', { ...base, dataCentres: ['us'] }, `dataCentres: ${says.object}`],
  ['a text for a list', { ...base, uploadOrigins: 'https://a.com' }, 'uploadOrigins: must be a list: '],
  ['a throttling of nothing', { ...base, throttling: { rate: 0, burst: 1 } }, `throttling.rate: ${says.atLeast(1)}`],
  ['an address for an origin', { ...base, uploadOrigins: ['https://a.com/'] }, `uploadOrigins.0: ${says.origin}`],
  ['a throttling without a burst', { ...base, throttling: { rate: 5 } }, `throttling.burst: ${says.missing}`],
  ['an invalid level', { ...base, logLevel: 'info' }, 'logLevel: must be "DEBUG" or "INFO" or'],
  ['an invalid mail address', { ...base, alarmEmail: 'ops' }, 'alarmEmail: must be an e-mail address'],
  ['a repository without an owner', { ...base, deploymentRole: { repository: 'a' } }, 'repository: must be OWNER'],
  ['an invalid region', withDataCentre({ region: 'here' }), `dataCentres.us.region: ${says.region}`],
  ['a home region that does not exist', { ...base, directoryRegion: 'eu-wset-1' }, `directoryRegion: ${says.region}`],
  ['a list without data centres', { ...base, dataCentres: {} }, `defaultDataCentre: ${says.dataCentreId}`],
  ['a default named like a method', { ...base, defaultDataCentre: 'toString' }, says.dataCentreId],
  [
    'a data centre named like another stack',
    withRegions({ us: 'us-east-1', edge: 'us-east-1' }),
    'dataCentres.edge: must have another id',
  ],
  ['an id in capitals', withRegions({ us: 'us-east-1', EU: 'eu-west-1' }), 'dataCentres.EU: must have an id of'],
  ['data centres in two partitions', withRegions({ us: 'us-east-1', cn: 'cn-north-1' }), says.partition],
  ['a home region in another partition', { ...base, directoryRegion: 'cn-north-1' }, says.partition],
  ['a domain without a zone and a certificate', withDomain({}), `customDomain: ${says.domain}`],
  ...['https://us.example.com', 'us', '*.example.com', 'us..example.com'].map(
    (domainName): Row => [
      `a domain that is not a host name: ${domainName}`,
      withDomain({ domainName, hostedZoneId }),
      'us.customDomain.domainName: must be a host name',
    ],
  ),
  ['a zone by its name instead of its id', withDomain({ hostedZoneId: 'example.com' }), `hostedZoneId: ${says.zone}`],
  ...['mine', 'arn:aws:acm:us-east-1:123456789012:certificate'].map(
    (certificateArn): Row => [
      `a certificate without its ARN: ${certificateArn}`,
      withDomain({ certificateArn }),
      'certificateArn: must be the ARN of a certificate',
    ],
  ),
  [
    'a certificate that CloudFront cannot use',
    withDomain({ certificateArn: certificateIn('eu-west-1') }, { region: 'eu-west-1', streaming: true }),
    'certificateArn: must be the ARN of a certificate in us-east-1',
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
    'dataCentres: must not share a domainName',
  ],
  [
    'streaming in a region without CloudFront',
    withDataCentre({ region: 'us-gov-west-1', streaming: true }),
    'us.streaming: must be false',
  ],
  [
    'streaming on an emulator',
    { ...withDataCentre({ streaming: true }), emulatorEndpoint: 'http://127.0.0.1:4566' },
    'dataCentres: must not have streaming, because emulators',
  ],
  ['an emulator without a scheme', { ...base, emulatorEndpoint: '127.0.0.1:4566' }, 'must begin'],
  ['decoded paths without an emulator', { ...base, pathEncoding: 'decoded' }, `emulatorEndpoint: ${says.missing}`],
  ['an invalid key', { ...base, encryptionKeys: { 'us-east-1': 'mine' } }, 'us-east-1: must be the ARN of a key'],
  ['a region without a key', { ...base, encryptionKeys: {} }, `encryptionKeys.us-east-1: ${says.missing}`],
  [
    'a key of another region',
    { ...base, encryptionKeys: { 'us-east-1': 'arn:aws:kms:eu-west-1:123456789012:key/a' } },
    'encryptionKeys.us-east-1: must be the ARN of a key in this region',
  ],
  [
    'a topic of another region',
    withDataCentre({ alarmTopic: 'arn:aws:sns:eu-west-1:123456789012:ops' }),
    'alarmTopic: must be in us-',
  ],
  ...[31, 9999].map((logDays): Row => [`${logDays} days for logs`, { ...base, logDays }, `logDays: ${says.logDays}`]),
  ['old versions removed too soon', { ...base, coldAfterDays: 30, keptDays: 59 }, says.atLeast(30)],
  [
    'a reservation for an unknown group',
    { ...base, reservedConcurrency: { files: 5 } },
    'reservedConcurrency: There is no setting files. The settings are documentation, ',
  ],
  [
    'a reservation that the workers of removals would use up',
    { ...base, reservedConcurrency: { removals: 5 } },
    `reservedConcurrency.removals: ${says.atLeast(6)}`,
  ],
  [
    'a reservation that the workers of webhooks would use up',
    { ...base, reservedConcurrency: { removals: 6, webhooks: 24 } },
    `reservedConcurrency.webhooks: ${says.atLeast(25)}`,
  ],
  ['a boundary by its ARN', { ...base, permissionsBoundary: 'arn:aws:iam::1:policy/a' }, 'must be the name'],
  [
    'a restored table without deletion protection',
    withDataCentre({ restoredTables: { webForms: 'forms' }, deletionProtection: false }),
    'us.restoredTables: needs deletionProtection',
  ],
  [
    'a restored history with change events',
    { ...withDataCentre({ restoredTables: { journal: 'history' } }), changeEvents: true },
    'us.restoredTables.journal: must be left out with changeEvents',
  ],
  [
    'a restored directory',
    withDataCentre({ restoredTables: { tokens: 'tokens' } }),
    'us.restoredTables: There is no setting tokens. The settings are signIns, ',
  ],
  [
    'a table by its ARN',
    withDataCentre({ restoredTables: { content: 'a:b' } }),
    'content: must be the name of a table',
  ],
  ['a backup without a vault', { ...base, backup: { copyTo: 'eu-west-1' } }, `backup.copyTo: ${says.vault}`],
])('The CDK app refuses %s', (_, settings, fault) => {
  expect(faultsOf(settings)).toEqual([expect.stringMatching(fault)])
})

test('All faults are reported at once', () => {
  expect(faultsOf({ ...base, keptDays: 0, logLevel: 'info', prefix: '' })).toHaveLength(3)
})

test('The CDK app prints the faults and nothing else, before it bundles functions', async () => {
  const program = launch('cdk/app.ts', [], {
    CDK_CONTEXT_JSON: JSON.stringify({ siteAdmin: { ...base, keptDays: 0 } }),
  })
  program.stdin.end()
  const { status, stdout, stderr } = await program.ended
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(messages.settings.only('keptDays'))
})

test.each<[string, unknown]>([
  ['settings as JSON on the command line', JSON.stringify(base)],
  [
    'a certificate of us-east-1 for a data centre that streams from another region',
    withDomain({ certificateArn: certificateIn('us-east-1') }, { region: 'eu-west-1', streaming: true }),
  ],
  [
    'a domain in the partition of China',
    withDomain({ certificateArn: 'arn:aws-cn:acm:cn-north-1:123456789012:certificate/a' }, { region: 'cn-north-1' }),
  ],
  ...['us-gov-west-1', 'us-iso-east-1', 'eusc-de-east-1'].map((region): [string, unknown] => [
    `a data centre in ${region}`,
    withDataCentre({ region }),
  ]),
])('The CDK app accepts %s', (_, settings) => {
  expect(faultsOf(settings)).toEqual([])
})
