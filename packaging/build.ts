import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'dist')

/**
 * Makes JavaScript of `site-admin`, the service included, in `dist`: Node takes no types out of files below `node_modules`. Packages stay outside: they
 * are installed beside it. What is loaded when it is first needed stays in files of its own.
 */
rmSync(folder, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'admin/main.js',
    // By this name `local/backup/verify-blobs.ts` starts it.
    'verify-blobs-thread': 'local/backup/verify-blobs-thread.ts',
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
