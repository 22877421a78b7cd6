import { createHash } from 'node:crypto'
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { buildFolder } from './built-folder.ts'

/**
 * `npm run build:console` builds the console into `dist/`. All file names but `index.html` have a hash, so that caches
 * may keep the files. The page is served at `…/console` without a final slash, so its relative addresses begin with
 * `console/`.
 */
const room = join(import.meta.dirname, '..', '..', 'console')

// The page does not use these parts of the generated client: server-sent events, security schemes, and lists and
// objects in addresses. Without them the script of the page is 2.5 kB smaller.
const unused = `
  export const createSseClient = undefined, getAuthToken = undefined, client = undefined
  export const serializeArrayParam = undefined, serializeObjectParam = undefined
  export const serializePrimitiveParam = ({ name, value }) => name + '=' + encodeURIComponent(value)`
const withoutUnused: Plugin = {
  name: 'without-unused',
  setup({ onLoad }) {
    onLoad({ filter: /(serverSentEvents|auth|generated.client|pathSerializer)\.gen\.ts$/ }, () => ({
      contents: unused,
    }))
  },
}

await buildFolder(join(room, 'dist'), async (dist) => {
  const { metafile } = await build({
    entryPoints: { console: join(room, 'app', 'main.tsx'), style: join(room, 'styles.css') },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir: dist,
    bundle: true,
    // Views and languages are separate files, loaded on demand.
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    plugins: [withoutUnused],
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  const builtOf = (entry: string): string => {
    const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry))
    return basename(found?.[0] ?? '')
  }

  const icon = join(room, 'icon.svg')
  const iconName = `icon-${createHash('sha256').update(readFileSync(icon)).digest('hex').slice(0, 8)}.svg`
  copyFileSync(icon, join(dist, iconName))

  // The scripts that an entry imports are requested together with the entry, not after it.
  const importsOf = (name: string): readonly string[] => {
    const [, output] = Object.entries(metafile.outputs).find(([path]) => basename(path) === name) ?? []
    return output?.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)) ?? []
  }

  const script = `console/${builtOf('console/app/main.tsx')}`
  const parts: Readonly<Record<string, string | undefined>> = {
    script,
    style: `console/${builtOf('console/styles.css')}`,
    icon: `console/${iconName}`,
    preloads: importsOf(basename(script))
      .map((name) => `<link rel="modulepreload" href="console/${name}">`)
      .join('\n    '),
  }
  const page = readFileSync(join(room, 'index.html'), 'utf8')
  writeFileSync(
    join(dist, 'index.html'),
    // The service fills in the remaining placeholders.
    page.replace(/%(\w+)%/g, (whole, what: string) => parts[what] ?? whole),
  )

  // The licences of the bundled packages require their notices.
  const notices = ['preact', '@preact/signals', '@preact/signals-core'].map((name) => {
    const folder = dirname(findPackageJSON(name, join(room, 'package.json')) ?? '')
    const [license = ''] = globSync('LICENSE*', { cwd: folder })
    return `${name}\n\n${readFileSync(join(folder, license), 'utf8')}`
  })
  writeFileSync(join(dist, 'licenses.txt'), notices.join('\n\n'))
})
