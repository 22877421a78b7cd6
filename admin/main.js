#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// This file is JavaScript for the same reason as local/main.js.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'node'))
// If the parent process (bin/site-admin.js) is killed, this process must end itself.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
// Standard error may be full or closed. The exit status still reports the result.
process.stderr.on('error', () => {})
const { run } = await import('./program.ts')
process.exitCode = await run(process.argv.slice(2))
