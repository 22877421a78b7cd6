import { enableCompileCache } from 'node:module'

// Compiled code is kept between starts. This file is no TypeScript, as Node would load its compiler for it alone, before it looks at what is kept.
enableCompileCache()
const { start } = await import('./start.ts')
await start(process.argv)
