import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Keeps compiled code between starts, where no other user can write (O-12). This file is JavaScript, because for a
// TypeScript file Node would load its TypeScript compiler before it reads the cached code.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'node'))
const { start } = await import('./start.ts')
await start(process.argv)
