import { join } from 'node:path'
import { build } from 'esbuild'
import { buildFolder } from './built-folder.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Compiles `site-admin` and the service into `dist`, because Node does not strip types below `node_modules`. Packages
 * are not bundled. Lazily loaded code stays in files of its own.
 */
await buildFolder(join(root, 'dist'), async (folder) => {
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'admin/main.js',
      // `lib/machine/check/verify-blobs.ts` starts it by this name.
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
