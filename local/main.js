import { enableCompileCache } from 'node:module'

// Keeps compiled code between starts. This file is JavaScript: for TypeScript, Node would load its compiler before it
// reads the cached code.
enableCompileCache()
const { start } = await import('./start.ts')
await start(process.argv)
