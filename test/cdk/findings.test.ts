import { describe, expect, test } from 'vitest'
import { readSettings } from '../../cdk/config/settings.ts'
import { acceptedOf } from '../../cdk/stacks/create-app.ts'
import { createTestApp, synthesiseChecked } from './support/synthesise.ts'

const streaming = { dataCentres: { us: { region: 'us-east-1', streaming: true } } }

const everything = {
  webApplicationFirewall: true,
  changeEvents: true,
  webhooks: true,
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

describe('the AwsSolutions rules', () => {
  test.each<[string, object]>([
    ['with every setting', everything],
    ['for an emulator', { deletionProtection: false, replicateDirectory: false }],
  ])('the app %s violates no rule', (_, settings) => {
    expect(synthesiseChecked(settings).findings).toEqual([])
  })

  test('every accepted finding is still found', () => {
    const found = new Set([{}, streaming, everything].flatMap((settings) => synthesiseChecked(settings, {}).findings))
    const accepted = [streaming, everything].flatMap(acceptedWith)
    expect(accepted.filter((id) => !found.has(id))).toEqual([])
  })
})
