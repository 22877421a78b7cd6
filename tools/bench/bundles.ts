import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundleFunction } from '../../cdk/config/bundles.ts'
import { functionEntry, functionNames } from '../../cdk/config/functions.ts'
import { type Bench, median, type Table, verdict } from './measure/figures.ts'
import { inScratchFolder } from './measure/grounds.ts'

const runs = 41
const targets = { size: 1.5, load: 1.3 }

// Enough for every function to start. Loading a bundle calls no service.
const environment = {
  PATH: process.env['PATH'],
  AWS_REGION: 'us-east-1',
  DATA_CENTRE: 'us',
  DATA_CENTRES: 'us',
  SITES_TABLE: 'sites',
  TOKENS_TABLE: 'tokens',
  JOURNAL_TABLE: 'journal',
  WEB_FORMS_TABLE: 'web-forms',
  CONTENT_TABLE: 'content',
  CATEGORY_LINKS_TABLE: 'category-links',
  PATH_LOCKS_TABLE: 'path-locks',
  UPLOADS_TABLE: 'uploads',
  FILES_BUCKET: 'files',
  REMOVALS_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/123456789012/removals',
}

const run = promisify(execFile)

/** Milliseconds in which a fresh process imports the bundle, without the start of Node. */
const loadOnce = async (folder: string): Promise<number> => {
  const url = pathToFileURL(join(folder, 'index.mjs')).href
  const load = `const startedAt = performance.now(); await import('${url}');`
  const script = `${load} console.log(performance.now() - startedAt); process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env: environment })
  return Number(stdout)
}

// Counts code only. Files that a function serves, such as the OpenAPI document, are not loaded.
const bundle = async (entry: string, folder: string) => {
  const { outputs } = await bundleFunction(entry, folder)
  const code = Object.entries(outputs).filter(([file]) => file.endsWith('.mjs'))
  return { folder, bytes: code.reduce((sum, [, { bytes }]) => sum + bytes, 0) }
}

interface Compared {
  readonly name: string
  /** `clients` is a file that loads the SDK clients of the function and nothing else. */
  readonly entry: string
  readonly clients: string
  readonly folder: string
}

/** Compares size and load time of a bundle, the cost of a cold start, with its SDK clients alone. */
const measureBundle = async ({ name, entry, clients, folder }: Compared): Promise<Table> => {
  const own = await bundle(entry, join(folder, name, 'own'))
  const sdk = await bundle(clients, join(folder, name, 'sdk'))
  const [ownTimes, sdkTimes]: [number[], number[]] = [[], []]
  await loadOnce(own.folder)
  await loadOnce(sdk.folder)
  // Alternating, so that other load affects both.
  for (let turn = 0; turn < runs; turn++) {
    ownTimes.push(await loadOnce(own.folder))
    sdkTimes.push(await loadOnce(sdk.folder))
  }
  const [ownLoad, sdkLoad] = [median(ownTimes), median(sdkTimes)]
  const compare = (figure: string, ownValue: number, sdkValue: number, target: number) => {
    const ratio = ownValue / sdkValue
    return [figure, ownValue.toFixed(1), sdkValue.toFixed(1), ratio.toFixed(2), target, verdict(ratio <= target)]
  }
  return {
    title: `Bundle of the ${name} function against one of its SDK clients alone (load: median of ${runs})`,
    columns: ['figure', 'function', 'SDK clients', 'ratio', 'target', 'verdict'],
    rows: [
      compare('size, KiB', own.bytes / 1024, sdk.bytes / 1024, targets.size),
      compare('load, ms', ownLoad, sdkLoad, targets.load),
    ],
  }
}

const longestSynth = 30

/** Seconds for all templates and bundles of the app, with its checks. */
const measureSynth = async (folder: string): Promise<Table> => {
  const startedAt = performance.now()
  await run('cdk', ['synth', '--quiet', '--no-notices', '--output', join(folder, 'cdk.out')])
  const seconds = (performance.now() - startedAt) / 1000
  return {
    title: 'cdk synth, s',
    columns: ['synth', 'target', 'verdict'],
    rows: [[seconds.toFixed(1), longestSynth, verdict(seconds <= longestSynth)]],
  }
}

/** Measures the bundle of every function and the synthesis of the app. */
export const bundles: Bench = () =>
  inScratchFolder(async (folder) => {
    const tables: Table[] = []
    for (const name of functionNames) {
      const clients = join(import.meta.dirname, 'bundles', `${name}-clients.ts`)
      tables.push(await measureBundle({ name, entry: functionEntry(name), clients, folder }))
    }
    return [...tables, await measureSynth(folder)]
  })
