import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { Bundles } from '../../../cdk/config/bundles.ts'
import { functionNames } from '../../../cdk/config/functions.ts'
import { createApp } from '../../../cdk/stacks/create-app.ts'

/** What functions consist of does not matter here. */
const emptyBundles = (folder: string): Bundles => {
  const bundled = [...functionNames, 'registration', 'stream'].map((name) => {
    const bundle = join(folder, name)
    mkdirSync(bundle)
    writeFileSync(join(bundle, 'index.mjs'), `export const handler = '${name}'\n`)
    return [name, bundle]
  })
  return Object.fromEntries(bundled)
}

export interface Synthesised {
  readonly app: App
  remove(): void
}

/** The app as it is with these settings, two data centres unless they say otherwise. */
export const createTestApp = (settings: object = {}): Synthesised => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-'))
  const siteAdmin = {
    prefix: 'Test',
    dataCentres: { us: { region: 'us-east-1' }, eu: { region: 'eu-west-1' } },
    defaultDataCentre: 'us',
    ...settings,
  }
  const context = { siteAdmin }
  return {
    app: createApp(emptyBundles(folder), { outdir: join(folder, 'cdk.out'), context, analyticsReporting: false }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

type Templates = Readonly<Record<'directory' | 'us' | 'eu', Template>>

const synthesise = (settings: object): Templates => {
  const { app, remove } = createTestApp(settings)
  try {
    const stacks = new Map(app.synth().stacks.map(({ stackName, template }) => [stackName, template]))
    const template = (name: string) => Template.fromJSON(stacks.get(`Test-${name}`) ?? {})
    return { directory: template('directory'), us: template('us'), eu: template('eu') }
  } finally {
    remove()
  }
}

const known = new Map<string, Templates>()

/** The templates of the app with these settings, by what the names of their stacks end in. */
export const templatesOf = (settings: object = {}): Templates => {
  const key = JSON.stringify(settings)
  const templates = known.get(key) ?? synthesise(settings)
  known.set(key, templates)
  return templates
}
