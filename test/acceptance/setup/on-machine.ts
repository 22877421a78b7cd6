import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { openMachine } from '../../../lib/machine/machine.ts'
import { startService } from '../../../local/service.ts'
import { readBlocks } from '../../../server/read-request.ts'
import { openTestDirectory } from './directory.ts'
import type { StartedHere } from './target.ts'

// The service of one machine, with two data centres and a new data directory.

const dataDirectory = mkdtempSync(join(inject('scratch'), 'data-'))
const { baseUrl, demo } = await startService({
  dataDirectory,
  host: '127.0.0.1',
  dataCentres: [
    { id: 'us', port: 0 },
    { id: 'eu', port: 0 },
  ],
  reset: false,
  allowPrivateWebhooks: true,
  insecureSignIn: true,
  // Cases choose the address of their caller.
  trustProxy: readBlocks(['127.0.0.0/8']),
  telemetry: { request: () => {} },
  say: console.error,
})
const admin = { args: ['--data-dir', dataDirectory], environment: {} }
const { stores } = await openMachine(dataDirectory)
export const service: StartedHere = { baseUrl, token: demo?.token ?? '', admin, directory: openTestDirectory(stores) }
