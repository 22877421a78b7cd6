import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, InvalidArgumentError } from 'commander'
import { preparePython } from '../../test/support/pinned-packages.ts'
import { type FuzzedDocument, lacking, readTally, tableOf } from './tally.ts'

const root = join(import.meta.dirname, '..', '..')

interface FuzzedService {
  readonly baseUrl: string
  readonly siteId: number
  readonly token: string
  stop(): Promise<void>
}

const rights = ['files:write', 'forms:write', 'categories:write', 'history:read', 'access:write']

/** Issues a token with every right. The first token of a service may not administer people, keys and webhooks. */
const issueToken = (dataDirectory: string, siteId: number): string => {
  const issuing = [
    'token',
    'issue',
    '--user',
    'fuzz',
    '--site',
    String(siteId),
    ...rights.flatMap((right) => ['--right', right]),
  ]
  const args = ['admin/main.js', '--json', '--data-dir', dataDirectory, ...issuing]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })).token
}

const startService = async (): Promise<FuzzedService> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-fuzz-'))
  const service = spawn(
    process.execPath,
    ['local/main.js', '--json', '--quiet', '--port', '0', '--data-dir', dataDirectory],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(service, 'exit')
  const stop = async () => {
    service.kill('SIGTERM')
    await ended
    await rm(dataDirectory, { recursive: true, force: true })
  }
  for await (const line of createInterface(service.stdout)) {
    const { baseUrl, siteId } = JSON.parse(line)
    try {
      return { baseUrl, siteId, token: issueToken(dataDirectory, siteId), stop }
    } catch (error) {
      await stop()
      throw error
    }
  }
  await stop()
  throw new Error('The service ended before it was ready')
}

interface Flags {
  readonly examples: number
  readonly minutes: number
  readonly seed: string
  readonly workers: string
}

const positive = (text: string): number => {
  const value = Number(text)
  if (value > 0) return value
  throw new InvalidArgumentError('It must be a number above 0.')
}

/** `npm run fuzz` checks a running service against its own document. `--examples 2000 --minutes 60` tests longer. */
const { examples, minutes, seed, workers } = new Command('npm run fuzz --')
  .description('Sends requests that the document allows, and requests that it forbids, to a service on this machine.')
  .option('--examples <number>', 'the number of requests for each operation', positive, 200)
  .option('--minutes <number>', 'the time limit; a longer run is stopped, and fails', positive, 5)
  .option('--seed <number>', 'the seed of the requests; the same seed sends the same requests', '20261121')
  .option(
    '--workers <number>',
    'the number of operations to test in parallel; Python 3.11 fails with more than one',
    '1',
  )
  .allowExcessArguments(false)
  .parse()
  .opts<Flags>()

const reports = join(root, 'reports', 'fuzz')
const documentFile = join(reports, 'openapi.json')
const tallyFile = join(reports, 'tally.json')

// In milliseconds: the time that a stopped fuzzer has for its report.
const timeToReport = 15_000

/** Runs the fuzzer within its time limit. Returns its exit status, and whether it was stopped. */
const fuzz = async (command: string, service: FuzzedService) => {
  const budget = minutes * 60_000
  const child = spawn(
    command,
    [
      '--config-file',
      join(import.meta.dirname, 'schemathesis.toml'),
      'run',
      // The document is read from a file, because the fuzzer does not test the address of its own document.
      documentFile,
      `--url=${service.baseUrl}`,
      `--max-examples=${examples}`,
      `--seed=${seed}`,
      `--workers=${workers}`,
      '--report=json',
      `--report-json-path=${join(reports, 'report.json')}`,
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      cwd: import.meta.dirname,
      env: {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        // Without this, the client reads the settings of proxies for each request.
        NO_PROXY: '127.0.0.1',
        FUZZ_SITE: String(service.siteId),
        FUZZ_TOKEN: service.token,
        FUZZ_TALLY: tallyFile,
      },
    },
  )
  let stopped = false
  const stop = setTimeout(() => {
    stopped = true
    child.kill('SIGINT')
  }, budget)
  const kill = setTimeout(() => child.kill('SIGKILL'), budget + timeToReport)
  const [status] = await once(child, 'exit')
  clearTimeout(stop)
  clearTimeout(kill)
  return { status: Number(status ?? 1), stopped }
}

const folder = join(root, '.cache', 'fuzz')
const command = join(preparePython(folder, join(import.meta.dirname, 'requirements.txt')), 'schemathesis')
await mkdir(reports, { recursive: true })
await rm(tallyFile, { force: true })
const service = await startService()
try {
  const document: FuzzedDocument = JSON.parse(await (await fetch(`${service.baseUrl}/openapi.json`)).text())
  await writeFile(documentFile, JSON.stringify(document))
  const { status, stopped } = await fuzz(command, service)
  const tally = await readTally(tallyFile)
  console.log(`\n${tableOf(tally)}`)
  process.exitCode = status
  if (stopped) {
    process.exitCode = 1
    console.error(`\nThe run exceeded ${minutes} minutes. Raise --minutes, or lower --examples.`)
  }
  const without = lacking(document, tally, examples)
  if (without.length > 0) {
    process.exitCode = 1
    console.error(`\nFewer than ${examples} examples were sent to:\n  ${without.join('\n  ')}`)
  }
} finally {
  await service.stop()
}
