import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildFolder, noticesOf } from './built-folder.ts'

/** `npm run build -w client` builds the library as typed modules, and the command as one file. */
const room = join(import.meta.dirname, '..', '..', 'client')
const { version } = JSON.parse(readFileSync(join(room, 'package.json'), 'utf8'))

await buildFolder(join(room, 'dist'), async (dist) => {
  const compiler = join(room, '..', 'node_modules', 'typescript', 'bin', 'tsc')
  const { status } = spawnSync(process.execPath, [compiler, '--project', room, '--outDir', dist], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The compiler has found errors: see above.')

  // The library needs no package at run time, so the packages that read .siteignore and write zips are bundled.
  await build({
    entryPoints: [join(room, 'src', 'sync', 'ignored.ts'), join(room, 'src', 'zip-format.ts')],
    outdir: dist,
    outbase: join(room, 'src'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    legalComments: 'inline',
    logLevel: 'warning',
  })

  const command = join(dist, 'site-files.cjs')
  await build({
    entryPoints: [join(room, 'src', 'command', 'main.ts')],
    outfile: command,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // Node starts CommonJS faster than a module, because a module would load unused parts of "node:http".
    format: 'cjs',
    banner: { js: '#!/usr/bin/env node' },
    define: { siteFilesVersion: JSON.stringify(version) },
    legalComments: 'inline',
    logLevel: 'warning',
  })
  chmodSync(command, 0o755)

  writeFileSync(join(dist, 'site-files.licenses.txt'), noticesOf(['client-zip', 'commander', 'diff', 'ignore'], room))
})
