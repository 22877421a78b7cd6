import { enableCompileCache } from 'node:module'

// Compiled code is kept between starts. This file and what it calls take half of the time to the first answer then, as long as it is no TypeScript
// itself: Node would load its compiler for that alone.
enableCompileCache()
const { start } = await import('./start.ts')
await start(process.argv)
