import { enableCompileCache } from 'node:module'

// Keeps compiled code between starts. This file is JavaScript, because for a TypeScript file Node would load its
// TypeScript compiler before it reads the cached code.
enableCompileCache()
const { start } = await import('./start.ts')
await start(process.argv)
