import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CloudRequest, watchCloudRequests } from '../support/cloud-requests.ts'
import './claim-tls.ts'

/**
 * On an emulator that runs functions as processes, `NODE_OPTIONS` loads this file into every function before its own
 * code. The file records the kinds of requests of the function, one per line.
 */
const folder = process.env['SITE_ADMIN_RECORDED_REQUESTS']
const name = process.env['AWS_LAMBDA_FUNCTION_NAME']

if (folder && name) {
  const file = join(folder, `${name}.jsonl`)
  const written = new Set<string>()
  mkdirSync(folder, { recursive: true })
  watchCloudRequests((request: CloudRequest) => {
    const line = JSON.stringify(request)
    if (written.has(line)) return
    written.add(line)
    appendFileSync(file, `${line}\n`)
  })
}
