import { join } from 'node:path'
import { build } from 'esbuild'
import { buildFolder } from './built-folder.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Compiles `site-admin` and the service into `dist`, because Node does not strip types below `node_modules`. Packages
 * stay outside the bundle. Code that is loaded on demand stays in its own files.
 */
await buildFolder(join(root, 'dist'), async (folder) => {
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'admin/main.js',
      // `lib/machine/check/verify-blobs.ts` starts this file by its name.
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
