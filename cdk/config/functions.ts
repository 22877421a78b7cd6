import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duration } from 'aws-cdk-lib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { referenceFiles } from '../../lib/contract/routes/documentation.ts'
import type { prefixes } from '../../lib/contract/routes/routes.ts'
import { byName, capitalised } from '../../lib/core/names.ts'

export type ServedGroup = (typeof prefixes)[number]['group']

export interface FunctionSettings {
  readonly description: string
  // In MB. Processor time grows with memory, and a cold start is mostly limited by the processor.
  readonly memorySize: number
  // The gateway waits 29 seconds, so a function behind it must answer before that.
  readonly timeout: Duration
  // The function invokes itself through a queue. Without this flag, Lambda would stop the chain after 16 invocations.
  readonly invokesItself?: boolean
}

export type FunctionName = ServedGroup | 'removals'

const usual = { memorySize: 512, timeout: Duration.seconds(25) }

export const functionSettings: Readonly<Record<FunctionName, FunctionSettings>> = {
  documentation: {
    ...usual,
    description: 'The contract (the OpenAPI document and the reference page), and the console',
  },
  access: { ...usual, description: 'Sign-in and people', memorySize: 1024 },
  fields: { ...usual, description: 'System fields of web forms' },
  categories: {
    ...usual,
    description: 'Categories and the news items and blogs linked to them',
    // A filtered list may read up to 20,000 objects at once.
    memorySize: 1024,
  },
  storage: {
    description: 'Files and folders of sites',
    // The small files of an upload wait in memory until the whole upload has been checked.
    memorySize: 1024,
    timeout: Duration.seconds(28),
  },
  webhooks: {
    description: 'Webhooks, and the deliveries to their targets',
    memorySize: 512,
    // A worker begins a delivery only if at least 15 seconds are left.
    timeout: Duration.seconds(28),
    invokesItself: true,
  },
  removals: {
    description: 'Finishes the removal of large folders, and recounts the used bytes, for up to a minute in each run',
    memorySize: 512,
    timeout: Duration.seconds(90),
    invokesItself: true,
  },
}

/**
 * Each queue starts up to `workers` at once. The other work of its function would wait while they use the whole
 * reservation. The stream of a new table has four shards, and each shard starts one function.
 */
export const workloads = {
  removals: { workers: 5, least: 6, others: '1 for the recount of used bytes' },
  webhooks: { workers: 20, least: 25, others: '4 for the stream of changes, and 1 for requests' },
} as const

export const functionNames = Object.keys(functionSettings) as FunctionName[]

/** The function `webhooks` exists only if the setting `webhooks` exists. */
export type ByFunction<Value> = Readonly<
  Record<Exclude<FunctionName, 'webhooks'>, Value> & Partial<Record<FunctionName, Value>>
>

export const byFunction = <Value>(hasWebhooks: boolean, create: (name: FunctionName) => Value): ByFunction<Value> =>
  byName(
    functionNames.filter((name) => hasWebhooks || name !== 'webhooks'),
    create,
  )

export const functionName = (name: FunctionName): string => `${capitalised(name)}Function`

// Some bundled packages are CommonJS modules that load built-in modules of Node with `require`.
const requireForCommonJs =
  "import { createRequire as nodeRequire } from 'node:module'; const require = nodeRequire(import.meta.url);"

// Bundles serve imported JSON without reading it. So the JSON stays a separate file, and Node does not parse it as
// code.
const keepData: Plugin = {
  name: 'keep-data',
  setup({ onLoad }) {
    onLoad({ filter: /\.json$/ }, async ({ path, with: { type } }) => {
      if (type !== 'json') return undefined
      const written: unknown = JSON.parse(await readFile(path, 'utf8'))
      return { contents: JSON.stringify(written), loader: 'copy' }
    })
  },
}

const options = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Node 24 supports this syntax. If it were translated to older syntax, each bundle would grow by 1 KB.
  supported: { using: true },
  // The bundler removes unused code from ES modules, but not from CommonJS modules.
  mainFields: ['module', 'main'],
  // Code that is loaded on first use has its own file, so that a cold start does not load it.
  splitting: true,
  outExtension: { '.js': '.mjs' },
  banner: { js: requireForCommonJs },
  plugins: [keepData],
  metafile: true,
  logLevel: 'warning',
} as const satisfies BuildOptions

const bundledNames = [...functionNames, 'registration', 'canary', 'stream'] as const

type BundledName = (typeof bundledNames)[number]

const project = join(import.meta.dirname, '..', '..')

export const functionEntry = (name: BundledName): string => join(project, 'functions', 'entries', `${name}.ts`)

export const bundleEntry = async (entry: string, folder: string): Promise<Metafile> => {
  const { metafile } = await build({ ...options, entryPoints: { index: entry }, outdir: folder })
  return metafile
}

const addDocumentation = async (folder: string): Promise<void> => {
  for (const file of referenceFiles.map((name) => join('node_modules', name)))
    await cp(join(project, file), join(folder, file))
  const built = join('console', 'dist')
  if (!existsSync(join(project, built)))
    throw new Error(`There is no ${built}. Run "npm ci", which builds it, then repeat.`)
  await cp(join(project, built), join(folder, 'console'), { recursive: true })
}

export const bundleFunction = async (name: BundledName, folder: string): Promise<void> => {
  await bundleEntry(functionEntry(name), folder)
  if (name === 'documentation') await addDocumentation(folder)
  // Lambda runs `index.js` of this function as a script, so the bundle exports no handler.
  if (name === 'stream') await writeFile(join(folder, 'index.js'), "import('./index.mjs')\n")
}

/** Returns a folder with a folder for each function. */
export const bundleFunctions = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-bundles-'))
  // The bundles are temporary. When the process ends, the app has already copied them.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await Promise.all(bundledNames.map((name) => bundleFunction(name, join(folder, name))))
  return folder
}
