#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// In JavaScript for the same reason as the entry of the service (local/main.js).
enableCompileCache()
const { run } = await import('./program.ts')
process.exitCode = await run(process.argv.slice(2))
