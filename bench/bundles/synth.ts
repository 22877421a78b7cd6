import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Table, verdict } from '../table.ts'

const target = 30

const run = promisify(execFile)

/** Seconds from nothing to the templates and bundles of the whole app, its checks included. */
export const measureSynth = async (folder: string): Promise<Table> => {
  const startedAt = performance.now()
  await run('cdk', ['synth', '--quiet', '--no-notices', '--output', join(folder, 'cdk.out')])
  const seconds = (performance.now() - startedAt) / 1000
  return {
    title: 'cdk synth, s',
    columns: ['synth', 'target', 'verdict'],
    rows: [[seconds.toFixed(1), target, verdict(seconds <= target)]],
  }
}
