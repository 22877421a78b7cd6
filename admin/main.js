#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// In JavaScript for the same reason as the entry of the service (local/main.js).
enableCompileCache()
// When what has started it (bin/site-admin.js) is killed, nobody knows of it any more who could end it.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
// What is said there may find no room, or no reader: the exit status tells it still.
process.stderr.on('error', () => {})
const { run } = await import('./program.ts')
process.exitCode = await run(process.argv.slice(2))
