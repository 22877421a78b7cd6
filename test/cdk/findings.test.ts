import { expect, test } from 'vitest'
import { readSettings } from '../../cdk/config/settings.ts'
import { acceptedOf } from '../../cdk/stacks/create-app.ts'
import { createTestApp, synthesiseChecked } from './support/synthesise.ts'

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

const acceptedWith = (settings: object): readonly string[] => {
  const { app, remove } = createTestApp(settings)
  remove()
  return Object.keys(acceptedOf(readSettings(app.node)))
}

test('The stacks violate only rules whose findings are accepted, and no accepted finding is obsolete', () => {
  const apps = [everything, streaming, { deletionProtection: false, replicateDirectory: false }]
  const found = apps.map((settings) => synthesiseChecked(settings, {}).findings)
  const accepted = apps.map(acceptedWith)
  expect(found.map((findings, index) => findings.filter((id) => !accepted[index]?.includes(id)))).toEqual([[], [], []])
  expect(accepted.flat().filter((id) => !found.flat().includes(id))).toEqual([])
})
