import type { Choice } from './pairs.ts'

/** The settings that add or remove resources of an app. */
export const factors = {
  dataCentres: [1, 2, 3],
  firstRegion: ['us-east-1', 'eu-west-1'],
  home: ['not named', 'us-east-1', 'eu-central-1'],
  streaming: ['none', 'the first', 'the last', 'all'],
  domain: ['none', 'zone', 'certificate', 'zone and certificate'],
  firewall: [false, true],
  changeEvents: [false, true],
  webhooks: [false, true],
  ownRules: [false, true],
} as const
type Chosen = Choice<typeof factors>

export const dataCentresOf = ({ dataCentres, firstRegion, streaming, domain }: Chosen) => {
  const regions = [firstRegion, firstRegion === 'us-east-1' ? 'eu-west-1' : 'us-east-1', 'ap-southeast-2']
  const last = dataCentres - 1
  const streams: readonly number[] = { none: [], 'the first': [0], 'the last': [last], all: [0, 1, 2] }[streaming]
  const entries = regions.slice(0, dataCentres).map((region, index) => {
    const isStreaming = streams.includes(index)
    const certificateRegion = isStreaming ? 'us-east-1' : region
    const customDomain = {
      domainName: `dc${index}.example.com`,
      ...(domain.includes('zone') && { hostedZoneId: 'Z0123456789' }),
      ...(domain.includes('certificate') && {
        certificateArn: `arn:aws:acm:${certificateRegion}:123456789012:certificate/${index}`,
      }),
    }
    return [`dc${index}`, { region, streaming: isStreaming, ...(domain !== 'none' && { customDomain }) }] as const
  })
  return Object.fromEntries(entries)
}

const keyIn = (region: string) => `arn:aws:kms:${region}:123456789012:key/11111111-2222-3333-4444-555555555555`

/** The requirements of an organisation for every app in its accounts. */
export const ownRules = (regions: Iterable<string>) => ({
  encryptionKeys: Object.fromEntries([...regions].map((region) => [region, keyIn(region)])),
  permissionsBoundary: 'Boundary',
  logDays: 365,
  tracing: true,
  canary: true,
  backup: { days: 35 },
  keptDays: 90,
  coldAfterDays: 30,
  reservedConcurrency: { fields: 20, storage: 50 },
})

export const settingsOf = (chosen: Chosen) => ({
  dataCentres: dataCentresOf(chosen),
  defaultDataCentre: 'dc0',
  webApplicationFirewall: chosen.firewall,
  changeEvents: chosen.changeEvents,
  webhooks: chosen.webhooks,
  deploymentRole: { repository: 'example/site-admin' },
  ...(chosen.ownRules && ownRules(['us-east-1', 'eu-west-1', 'ap-southeast-2', 'eu-central-1'])),
  ...(chosen.home !== 'not named' && { directoryRegion: chosen.home }),
})
