import './compile-cache.js'

// This file is JavaScript, because for a TypeScript file Node would load its TypeScript compiler before it reads the
// cached code.
const { start } = await import('./start.ts')
await start(process.argv)
