import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functionName, functionNames, functionSettings } from '../../cdk/config/functions.ts'
import { endpointLimits } from '../../cdk/config/lambda-quotas.ts'
import { ownMetrics, removalTimes } from '../../lib/config/functions.ts'
import { longestSilence } from '../../lib/storage/path-locks.ts'
import { compareStacks, describeStack } from './support/describe-stack.ts'
import { templatesOf } from './support/synthesise.ts'

const plain = templatesOf()
const { directory, us } = plain

const customDomain = { domainName: 'us.example.com', hostedZoneId: 'Z0123456789' }
const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/0'
const eu = { region: 'eu-west-1' }

const everything = templatesOf({
  directoryRegion: 'eu-central-1',
  changeEvents: true,
  webhooks: true,
  webApplicationFirewall: true,
  uploadOrigins: ['https://example.com'],
  logLevel: 'DEBUG',
  canary: true,
  backup: { days: 90, copyTo: 'arn:aws:backup:eu-west-1:123456789012:backup-vault:Copies' },
  deploymentRole: { repository: 'example@12/site-admin@34', environment: 'live' },
  dataCentres: { us: { region: 'us-east-1', streaming: true, originSecret: 3, customDomain }, eu },
})
const withDomain = templatesOf({
  webApplicationFirewall: true,
  dataCentres: {
    us: { region: 'us-east-1', customDomain },
    eu: { ...eu, customDomain: { domainName: 'eu.example.com', certificateArn } },
  },
})
/** The data centres `us` and `asia` share a region. The home region has no data centre, and is not the default. */
const moved = templatesOf({
  directoryRegion: 'us-east-1',
  defaultDataCentre: 'eu',
  dataCentres: {
    us: { region: 'us-west-2', deletionProtection: false },
    asia: { region: 'us-west-2' },
    eu: { ...eu, deletionProtection: false },
  },
})
const restored = templatesOf({
  dataCentres: { us: { region: 'us-east-1', restoredTables: { categoryLinks: 'Links-restored' } }, eu },
})
const emulated = templatesOf({
  deletionProtection: false,
  replicateDirectory: false,
  emulatorEndpoint: 'http://127.0.0.1:4566',
})

// The refusal of large bodies by the gateway, the paths of the Web Function, and the pipe of changes are rules too.
test('The stacks are as in template.txt (A-31, H-13, S-104, S-105, U-18)', async () => {
  const sections = {
    'The directory': describeStack(directory),
    'A data centre': describeStack(us),
    'A data centre with a domain and a firewall, in comparison': compareStacks(withDomain.us, us),
    'A data centre with a certificate and without a zone, in comparison': compareStacks(withDomain.eu, plain.eu),
    'The directory of three data centres in two regions, in comparison': compareStacks(moved.directory, directory),
    'The default data centre without deletion protection, in comparison': compareStacks(moved.eu, plain.eu),
    'A data centre with a restored table, in comparison': compareStacks(restored.us, us),
    'The directory with every option, in comparison': compareStacks(everything.directory, directory),
    'A data centre with every option, in comparison': compareStacks(everything.us, us),
    'The stack for CloudFront in us-east-1': describeStack(everything.edge),
    'The stack that watches distributions': describeStack(everything.watch),
    'The directory of an emulator, in comparison': compareStacks(emulated.directory, directory),
    'A data centre of an emulator, in comparison': compareStacks(emulated.us, us),
  }
  const texts = Object.entries(sections).map(([title, lines]) => `${title}\n${lines.join('\n')}\n`)
  await expect(texts.join('\n')).toMatchFileSnapshot('template.txt')
})

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'deploying.md'), 'utf8')

test('The deployment guide lists all functions', () => {
  const names = [...functionNames.map(functionName), 'RegistrationFunction']
  expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})

test('The cost table of the guide states how many alarms a data centre has', () => {
  const [, printed] = /With two data centres, each has (\d+) alarms/.exec(guide) ?? []
  expect(Number(printed)).toBe(Object.keys(us.findResources('AWS::CloudWatch::Alarm')).length)
})

test('Every metric of an alarm that AWS does not measure exists (V-28)', () => {
  const propertiesOf = (type: string) =>
    Object.values(everything.us.findResources(type)).map(({ Properties }) => Properties)
  const filtered = propertiesOf('AWS::Logs::MetricFilter').flatMap(({ MetricTransformations }) => MetricTransformations)
  const published = new Set([
    ...filtered.map(({ MetricNamespace, MetricName }) => `${MetricNamespace} ${MetricName}`),
    ...Object.values(ownMetrics).map((name) => `${ownMetrics.namespace} ${name}`),
  ])
  const watched = propertiesOf('AWS::CloudWatch::Alarm').map(
    ({ Namespace, MetricName }) => `${Namespace} ${MetricName}`,
  )
  expect(watched).toContain('site-admin site_admin_oldest_removal_age_seconds')
  expect(watched.filter((name) => !/^AWS\/|^undefined /.test(name) && !published.has(name))).toEqual([])
})

test('A removal message is delivered again for at most an hour (S-113)', () => {
  const queues = Object.values(us.findResources('AWS::SQS::Queue')).map(({ Properties }) => Properties)
  const { VisibilityTimeout, RedrivePolicy } = queues.find((queue) => queue.RedrivePolicy)
  const longestWork = functionSettings.removals.timeout.toSeconds()
  expect(VisibilityTimeout).toBe(6 * longestWork)
  expect((VisibilityTimeout + longestWork) * 1000).toBeLessThan(longestSilence)
  expect(removalTimes.repeatedFor + VisibilityTimeout * RedrivePolicy.maxReceiveCount).toBe(3600)
})

test('A deployment without directoryRegion asks once for this setting', () => {
  expect(plain.warnings).toEqual([expect.stringContaining('Add "directoryRegion": "us-east-1"')])
  expect(moved.warnings).toEqual([])
})

test('The policy for administrators needs no further statement for a further region', () => {
  const statementsIn = ({ directory }: Pick<typeof everything, 'directory'>) =>
    Object.values(directory.findResources('AWS::IAM::ManagedPolicy'))[0]?.['Properties'].PolicyDocument.Statement
  expect(statementsIn(moved)).toHaveLength(statementsIn({ directory }).length)
})

test('Templates take the AWS partition from the region', () => {
  const { directory, us } = templatesOf({
    dataCentres: { us: { region: 'cn-north-1' } },
    encryptionKeys: { 'cn-north-1': 'arn:aws-cn:kms:cn-north-1:123456789012:key/a' },
    alarmEmail: 'ops@example.com',
    webApplicationFirewall: true,
    deploymentRole: { repository: 'example/site-admin' },
  })
  for (const template of [directory, us]) {
    const text = JSON.stringify(template.toJSON()).replaceAll(/"[a-z]+\.amazonaws\.com"/g, '"a service"')
    expect(text).not.toMatch(/arn:aws(?!-cn:kms)|amazonaws(?!\.com\.cn)/)
  }
})

test('Turning on streaming moves the DNS record of the domain to the distribution', () => {
  const records = Object.keys(withDomain.us.findResources('AWS::Route53::RecordSet'))
  expect(records).toHaveLength(1)
  expect(Object.keys(everything.us.findResources('AWS::Route53::RecordSet'))).toEqual(expect.arrayContaining(records))
})

test.each([
  [500, 1000, 63, 500],
  [1, 1, 2, 100],
  [1001, 1, 2, 2000],
  [20_000, 160_000, 10_000, 10_000],
])('The limits of the gateway also limit the Web Function: %i, %i', (rate, burst, maxEnvironments, rateLimit) => {
  expect(endpointLimits({ rate, burst })).toEqual({ maxEnvironments, rateLimit })
})
