import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { fuzzer } from './environment.ts'
import { type FuzzedService, startService } from './service.ts'

interface Flags {
  readonly examples: string
  readonly seed: string
  readonly workers: string
}

/** `npm run fuzz`: holds a running service against its own document. `--examples 2000` looks longer. */
const flags = new Command('npm run fuzz --')
  .description('Sends what the document allows, and what it does not, to a service of its own on this machine.')
  .option('--examples <number>', 'for each operation', '200')
  .option('--seed <number>', 'the same seed sends the same requests', '20261121')
  .option(
    '--workers <number>',
    'how many operations are tried at once; Python 3.11 has a fault with more than one',
    '1',
  )
  .allowExcessArguments(false)
  .parse()
  .opts<Flags>()

const reports = join(import.meta.dirname, '..', 'reports', 'fuzz')
const statusesFile = join(reports, 'statuses.json')

const fuzz = async (command: string, { baseUrl, siteId, token }: FuzzedService): Promise<number> => {
  const child = spawn(
    command,
    [
      '--config-file',
      join(import.meta.dirname, 'schemathesis.toml'),
      'run',
      `${baseUrl}/openapi.json`,
      '--checks=all',
      `--max-examples=${flags.examples}`,
      `--seed=${flags.seed}`,
      `--workers=${flags.workers}`,
      '--report=json',
      `--report-json-path=${join(reports, 'report.json')}`,
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        FUZZ_SITE: String(siteId),
        FUZZ_TOKEN: token,
        FUZZ_STATUSES: statusesFile,
      },
    },
  )
  const [status] = await once(child, 'exit')
  return Number(status ?? 1)
}

const printStatuses = async () => {
  const statuses: Readonly<Record<string, Readonly<Record<string, number>>>> = JSON.parse(
    await readFile(statusesFile, 'utf8'),
  )
  console.log('\nAnswers by operation:')
  for (const [operation, counts] of Object.entries(statuses)) {
    const seen = Object.entries(counts).map(([status, count]) => `${status}: ${count}`)
    console.log(`  ${operation}  ${seen.join(', ')}`)
  }
}

const command = await fuzzer()
await mkdir(reports, { recursive: true })
const service = await startService()
try {
  process.exitCode = await fuzz(command, service)
} finally {
  await service.stop()
}
await printStatuses()
