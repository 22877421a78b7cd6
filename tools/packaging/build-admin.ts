import { join } from 'node:path'
import { build } from 'esbuild'
import { buildFolder } from './built-folder.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Makes JavaScript of `site-admin`, the service included, in `dist`: Node takes no types out of files below
 * `node_modules`. Packages stay outside: they are installed beside it. What is loaded when it is first needed stays in
 * files of its own.
 */
await buildFolder(join(root, 'dist'), async (folder) => {
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'admin/main.js',
      // By this name `lib/machine/check/verify-blobs.ts` starts it.
      'verify-blobs-thread': 'lib/machine/check/verify-blobs-thread.ts',
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    logLevel: 'warning',
  })
})
