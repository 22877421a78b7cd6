import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundleFunction } from '../cdk/bundle.ts'
import { median } from './quantile.ts'
import { type Table, verdict } from './table.ts'

const runs = 41
const targets = { size: 1.5, load: 1.3 }

const root = join(import.meta.dirname, '..')

/** A function, and the measure for it: a file that makes the SDK clients which it needs, and does nothing else. */
interface BundledFunction {
  readonly group: string
  /** What its settings need beside those of every function. */
  readonly settings: Readonly<Record<string, string>>
}

const commonSettings = { DATA_CENTRE: 'us', SITES_TABLE: 'sites', TOKENS_TABLE: 'tokens' }

const run = promisify(execFile)

/** Milliseconds that a fresh process takes to load the bundle: its import alone, without the start of Node. */
const loadOnce = async (folder: string, settings: BundledFunction['settings']): Promise<number> => {
  const url = pathToFileURL(join(folder, 'index.mjs')).href
  const script = `const startedAt = performance.now(); await import('${url}'); console.log(performance.now() - startedAt); process.exit()`
  const env = { PATH: process.env['PATH'], AWS_REGION: 'us-east-1', ...commonSettings, ...settings }
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env })
  return Number(stdout)
}

const bundle = async (entry: string, folder: string) => {
  const { outputs } = await bundleFunction(entry, folder)
  return { folder, bytes: Object.values(outputs).reduce((sum, { bytes }) => sum + bytes, 0) }
}

const measure = async (folder: string, { group, settings }: BundledFunction): Promise<Table> => {
  const own = await bundle(join(root, 'functions', group, 'handler.ts'), join(folder, 'own'))
  const sdk = await bundle(join(root, 'bench', group, 'sdk-clients.ts'), join(folder, 'sdk'))
  const [ownTimes, sdkTimes]: [number[], number[]] = [[], []]
  await loadOnce(own.folder, settings)
  await loadOnce(sdk.folder, settings)
  // By turns, so that what else the machine does meets both alike.
  for (let turn = 0; turn < runs; turn++) {
    ownTimes.push(await loadOnce(own.folder, settings))
    sdkTimes.push(await loadOnce(sdk.folder, settings))
  }
  const [ownLoad, sdkLoad] = [median(ownTimes), median(sdkTimes)]
  const compare = (name: string, ownValue: number, sdkValue: number, target: number) => {
    const ratio = ownValue / sdkValue
    return [name, ownValue.toFixed(1), sdkValue.toFixed(1), ratio.toFixed(2), target, verdict(ratio <= target)]
  }
  return {
    title: `Bundle of the ${group} function against one of its SDK clients alone (load: median of ${runs})`,
    columns: ['figure', 'function', 'SDK clients', 'ratio', 'target', 'verdict'],
    rows: [
      compare('size, KiB', own.bytes / 1024, sdk.bytes / 1024, targets.size),
      compare('load, ms', ownLoad, sdkLoad, targets.load),
    ],
  }
}

/** Size and load time of the function's bundle: what a cold start pays for. */
export const measureBundle = async (bundled: BundledFunction): Promise<Table> => {
  const folder = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  try {
    return await measure(folder, bundled)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
