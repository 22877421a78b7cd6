import { expect, test } from 'vitest'
import { synthesiseChecked } from './support/synthesise.ts'

const streaming = { dataCentres: { us: { region: 'us-east-1', streaming: true } } }

const everything = {
  webApplicationFirewall: true,
  changeEvents: true,
  webhooks: true,
  backup: {},
  alarmEmail: 'ops@example.com',
  deploymentRole: { repository: 'example/site-admin' },
  dataCentres: {
    us: { region: 'us-east-1', streaming: true },
    eu: {
      region: 'eu-west-1',
      streaming: true,
      originSecret: 2,
      customDomain: { domainName: 'eu.example.com', hostedZoneId: 'Z0123456789' },
    },
  },
}

test('The stacks violate only accepted rules of cdk-nag, and each acceptance is needed', () => {
  const plain = { dataCentres: { us: { region: 'us-east-1' } }, deletionProtection: false, replicateDirectory: false }
  const apps = [everything, streaming, plain].map((settings) => synthesiseChecked(settings, {}))
  expect(apps.map(({ findings, accepted }) => findings.filter((id) => !accepted.includes(id)))).toEqual([[], [], []])
  const found = apps.flatMap(({ findings }) => findings)
  expect(apps.flatMap(({ accepted }) => accepted.filter((id) => !found.includes(id)))).toEqual([])
})
