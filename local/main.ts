import { enableCompileCache } from 'node:module'

// Compiled code is kept between starts: it takes a third off the time to the first answer.
enableCompileCache()
const { start } = await import('./start.ts')
await start(process.argv)
