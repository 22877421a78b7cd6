import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preparePython } from '../support/pinned-packages.ts'
import { factors, settingsOf } from './support/choices.ts'
import { eachValue } from './support/pairs.ts'
import { createTestApp } from './support/synthesise.ts'

/**
 * `npm run lint:templates` checks templates with cfn-lint, which knows the schema of each resource. The templates are
 * those of apps that have every setting.
 */
const folder = join('.cache', 'templates')

/** Rules that do not apply to these templates, each with the reason. */
const ignored = { W3005: 'The CDK writes dependencies that CloudFormation would find itself.' }

const forEmulator = {
  dataCentres: { us: { region: 'us-east-1' } },
  deletionProtection: false,
  replicateDirectory: false,
  emulatorEndpoint: 'http://127.0.0.1:4566',
}

/** The templates of all apps, without duplicates. */
const templates = (): ReadonlySet<string> => {
  // `npm run test:long` checks the rules of the CDK.
  process.env['CDK_VALIDATION'] = 'false'
  process.env['CDK_DEFAULT_ACCOUNT'] = '123456789012'
  const found = new Set<string>()
  for (const settings of [forEmulator, ...eachValue(factors).map(settingsOf)]) {
    const { app, remove } = createTestApp(settings)
    for (const { template } of app.synth().stacks) found.add(JSON.stringify(template, undefined, 1))
    remove()
  }
  return found
}

const python = preparePython(join('.cache', 'python'), join(import.meta.dirname, '..', 'deployed', 'requirements.txt'))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [index, template] of [...templates()].entries()) writeFileSync(join(folder, `${index}.json`), template)
const options = ['--ignore-checks', ...Object.keys(ignored), '--', join(folder, '*.json')]
const { status } = spawnSync(join(python, 'cfn-lint'), options, { stdio: 'inherit' })
process.exitCode = status === 0 ? 0 : 1
