import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'

/** A checkout of the project: this one, or an earlier one to compare with. */
export interface Tree {
  readonly name: string
  readonly folder: string
}

export const own: Tree = { name: 'this tree', folder: join(import.meta.dirname, '..', '..', '..') }

/** Contains this tree. An earlier checkout with installed packages comes first, if `BASELINE` names one. */
export const trees = (): readonly Tree[] => {
  const folder = process.env['BASELINE']
  return folder ? [{ name: 'baseline', folder }, own] : [own]
}

export interface BenchedService {
  readonly baseUrl: string
  readonly token: string
  readonly process: MeasuredProcess
  /** Runs a `site-admin` command of the tree on the data directory of the service. */
  administer(...args: readonly string[]): Promise<unknown>
  stop(): Promise<void>
}

interface Manifest {
  readonly scripts: { readonly start: string }
  readonly bin: { readonly 'site-admin': string }
}

const run = promisify(execFile)

/** Starts the service of a tree on an empty directory, as `npm start` does, but without npm. */
export const startService = async (
  { folder }: Tree,
  environment: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<BenchedService> => {
  const directory = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  const manifest: Manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const words = manifest.scripts.start.split(' ')
  const nodeFlags = words.filter((word) => word.startsWith('--'))
  const args = ['--port', '0', '--json', '--quiet', '--data-dir', join(directory, 'data'), ...flags]
  const service = await startMeasured(join(folder, words.at(-1) ?? ''), args, environment, nodeFlags)
  const { baseUrl, token } = JSON.parse(service.line) as { baseUrl: string; token: string }
  return {
    baseUrl,
    token,
    process: service,
    async administer(...given) {
      const command = [
        join(folder, manifest.bin['site-admin']),
        '--json',
        '--data-dir',
        join(directory, 'data'),
        ...given,
      ]
      const { stdout } = await run(process.execPath, command, { maxBuffer: 64 * 1024 ** 2 })
      return JSON.parse(stdout)
    },
    async stop() {
      await service.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
