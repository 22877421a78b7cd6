import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Template } from 'aws-cdk-lib/assertions'
import type { SynthesisMessage } from 'aws-cdk-lib/cx-api'
import { functionNames } from '../../../cdk/config/functions.ts'
import { createApp } from '../../../cdk/stacks/create-app.ts'
import { makeDirectory, removeDirectory } from '../../support/directory.ts'
import { acceptedOf, checkFindings, type Findings } from './findings.ts'

/** The code of functions does not matter in these tests. */
const emptyBundles = (folder: string): string => {
  for (const name of [...functionNames, 'registration', 'canary', 'stream']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'index.mjs'), `export const handler = '${name}'\n`)
  }
  return folder
}

/** An app with these settings. Default: two data centres. */
export const createTestApp = (settings: object = {}) => {
  const folder = makeDirectory()
  const dataCentres = { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } }
  const context = { siteAdmin: { prefix: 'Test', dataCentres, defaultDataCentre: 'us', ...settings } }
  return {
    app: createApp(emptyBundles(folder), { outdir: join(folder, 'cdk.out'), context, analyticsReporting: false }),
    remove: () => removeDirectory(folder),
  }
}

interface Report {
  readonly pluginReports: readonly { readonly violations: readonly { readonly ruleName: string }[] }[]
}

const warningsIn = (stacks: readonly { readonly messages: readonly SynthesisMessage[] }[]): readonly string[] =>
  stacks.flatMap(({ messages }) => messages.map(({ entry }) => String(entry.data)))

const templatesIn = (stacks: readonly { readonly stackName: string; readonly template: object }[]) =>
  new Map(stacks.map(({ stackName, template }) => [stackName.replace('Test-', ''), Template.fromJSON(template)]))

/** The app with these settings, checked against the AwsSolutions rules. */
export const synthesiseChecked = (settings: object, accepted?: Findings) => {
  const { app, remove } = createTestApp(settings)
  checkFindings(app, accepted)
  const report = join(app.outdir, 'validation-report.json')
  const synthesise = () => {
    try {
      return app.synth().stacks
    } catch (error) {
      // The synthesis throws an error for findings, but the report has more detail.
      if (!existsSync(report)) throw error
      return []
    }
  }
  try {
    const stacks = synthesise()
    const { pluginReports }: Report = JSON.parse(readFileSync(report, 'utf8'))
    return {
      /** Violated rules, without the given findings. */
      findings: [...new Set(pluginReports.flatMap(({ violations }) => violations.map(({ ruleName }) => ruleName)))],
      accepted: Object.keys(acceptedOf(app)),
      warnings: warningsIn(stacks),
      /** By stack name without the prefix. Empty if a rule is violated. */
      templates: templatesIn(stacks),
    }
  } finally {
    remove()
  }
}

type Templates = Readonly<Record<'directory' | 'us' | 'eu' | 'edge' | 'watch', Template>> & {
  readonly warnings: readonly string[]
}

const known = new Map<string, Templates>()

/** By stack name without the prefix. A stack that these settings do not create is empty. */
export const templatesOf = (settings: object = {}): Templates => {
  const key = JSON.stringify(settings)
  const found = known.get(key)
  if (found) return found
  const { app, remove } = createTestApp(settings)
  try {
    const empty = Template.fromJSON({})
    const { stacks } = app.synth()
    const present = Object.fromEntries(templatesIn(stacks))
    const absent = { directory: empty, us: empty, eu: empty, edge: empty, watch: empty }
    const templates = { ...absent, ...present, warnings: warningsIn(stacks) }
    known.set(key, templates)
    return templates
  } finally {
    remove()
  }
}
