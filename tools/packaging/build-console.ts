import { createHash } from 'node:crypto'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { build, type Loader, type Plugin } from 'esbuild'
import { iconPaths } from '../../console/parts/icon-paths.ts'
import { buildFolder, noticesOf } from './built-folder.ts'

/**
 * `npm run build:console` builds the console into `dist/`. All file names but `index.html` and `frame.html` have a hash, so
 * that caches may keep the files. The page is served at `…/console` without a final slash, so its relative addresses
 * begin with `console/`.
 */
const room = join(import.meta.dirname, '..', '..', 'console')

const entry = join(room, 'app', 'main.tsx')
const modulesIn = (folder: string): readonly string[] =>
  globSync('**/*.{ts,tsx}', { cwd: folder, exclude: ['dist/**', 'node_modules/**'] }).map((path) => join(folder, path))

// The entry imports the parts that views share, and modules that are loaded later import the entry. So the shared parts
// are in one file. Otherwise each set of modules with shared parts would need a file. This saves 5 kB and twenty
// requests.
const shared = ['parts', 'page'].flatMap((folder) => modulesIn(join(room, folder)))
const later = new Set(
  [room, join(room, '..', 'client', 'src')].flatMap(modulesIn).flatMap((path) => {
    const imported = readFileSync(path, 'utf8').matchAll(/\bimport\('(\.[^']+)'\)/g)
    return [...imported].map(([, target = '']) => join(dirname(path), target))
  }),
)
const oneFirstScript: Plugin = {
  name: 'one-first-script',
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      const placed = path === entry ? shared : later.has(path) ? [entry] : []
      const imports = placed.map((each) => `import ${JSON.stringify(each)}\n`).join('')
      const loader: Loader = extname(path) === '.tsx' ? 'tsx' : 'ts'
      return { contents: `${imports}${readFileSync(path, 'utf8')}`, loader }
    })
  },
}

await buildFolder(join(room, 'dist'), async (dist) => {
  const { metafile } = await build({
    entryPoints: { console: entry, style: join(room, 'styles.css') },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir: dist,
    bundle: true,
    // Views and languages are separate files, loaded on demand.
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    // Calls of `createElement` are shorter than calls of the automatic runtime.
    inject: [join(room, 'parts', 'element.ts')],
    tsconfigRaw: {
      compilerOptions: { jsx: 'react', jsxFactory: 'createElement', jsxFragmentFactory: 'Fragment' },
    },
    minify: true,
    plugins: [oneFirstScript],
    metafile: true,
    legalComments: 'none',
    // Escapes of other letters are longer, and browsers read modules as UTF-8.
    charset: 'utf8',
    // `oneFirstScript` imports modules only to place them in one file, so esbuild need not warn about these imports.
    logOverride: { 'ignored-bare-import': 'silent' },
    logLevel: 'warning',
  })
  const outputs = Object.entries(metafile.outputs)
  const builtOf = (entry: string) => outputs.find(([, { entryPoint }]) => entryPoint?.endsWith(entry)) ?? []
  const [styles = ''] = builtOf('console/styles.css')
  // The built entry only imports the file that has its code. So the page loads this file, without a step in between.
  const [built = '', { imports: [script] = [] } = {}] = builtOf('console/app/main.tsx')
  rmSync(join(dist, basename(built)))

  copyFileSync(join(room, 'frame.html'), join(dist, 'frame.html'))
  const icon = join(room, 'icon.svg')
  const iconName = `icon-${createHash('sha256').update(readFileSync(icon)).digest('hex').slice(0, 8)}.svg`
  copyFileSync(icon, join(dist, iconName))

  const parts: Readonly<Record<string, string | undefined>> = {
    script: `console/${basename(script?.path ?? '')}`,
    style: `console/${basename(styles)}`,
    icon: `console/${iconName}`,
    icons: Object.entries(iconPaths)
      .map(([name, path]) => `<path id="icon-${name}" d="${path}"/>`)
      .join(''),
  }
  const page = readFileSync(join(room, 'index.html'), 'utf8')
  writeFileSync(
    join(dist, 'index.html'),
    // The service fills in the remaining placeholders.
    page.replace(/%(\w+)%/g, (whole, what: string) => parts[what] ?? whole),
  )

  const bundled = ['preact', '@preact/signals', '@preact/signals-core', 'client-zip']
  writeFileSync(join(dist, 'licenses.txt'), noticesOf(bundled, room))
})
