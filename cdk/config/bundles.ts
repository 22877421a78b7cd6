import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { byName } from '../../lib/core/names.ts'
import { type FunctionSettings, functionEntry, functionNames, functionSettings } from './functions.ts'

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

const project = join(import.meta.dirname, '..', '..')

const copyBuilt = async (name: string, built: string, folder: string): Promise<void> => {
  const source = join(project, built)
  if (!existsSync(source)) throw new Error(`There is no ${built}. Run "npm ci", which builds it, then repeat.`)
  await cp(source, join(folder, name), { recursive: true })
}

export const bundleFunction = async (
  entry: string,
  folder: string,
  { packageFiles = [], folders = {} }: Pick<FunctionSettings, 'packageFiles' | 'folders'> = {},
): Promise<Metafile> => {
  const { metafile } = await build({ ...options, entryPoints: { index: entry }, outdir: folder })
  for (const file of packageFiles) {
    await cp(join(project, 'node_modules', file), join(folder, 'node_modules', file))
  }
  for (const [name, built] of Object.entries(folders)) await copyBuilt(name, built, folder)
  return metafile
}

const bundledNames = [...functionNames, 'registration', 'canary', 'stream'] as const

export type Bundles = Readonly<Record<(typeof bundledNames)[number], string>>

// Lambda runs `index.js` of this function as a script, so the bundle exports no handler.
export const bundleStream = async (folder: string): Promise<void> => {
  await bundleFunction(functionEntry('stream'), folder)
  await writeFile(join(folder, 'index.js'), "import('./index.mjs')\n")
}

export const bundleFunctions = async (): Promise<Bundles> => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-bundles-'))
  // The bundles are temporary. When the process ends, the app has already copied them.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const folderOf = (name: keyof Bundles) => join(folder, name)
  await Promise.all([
    ...functionNames.map((name) => bundleFunction(functionEntry(name), folderOf(name), functionSettings[name])),
    ...(['registration', 'canary'] as const).map((name) => bundleFunction(functionEntry(name), folderOf(name))),
    bundleStream(folderOf('stream')),
  ])
  return byName(bundledNames, folderOf)
}
