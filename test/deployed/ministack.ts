import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Emulator, emulatorEnvironment, findEmulator } from '../../cdk/deploy-local.ts'
import { freePort } from '../support/listen.ts'

const host = '127.0.0.1'
const patience = 60_000

/** The emulator runs functions in child processes, which end with it. */
const end = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, 'SIGKILL')
  await ended
}

const untilReady = async (child: ChildProcess, endpoint: string, log: string): Promise<Emulator> => {
  const deadline = Date.now() + patience
  while (child.exitCode === null && Date.now() < deadline) {
    try {
      return await findEmulator(endpoint)
    } catch {
      await sleep(200)
    }
  }
  throw new Error(`MiniStack did not start; see ${log}`)
}

const importing = (file: string): string => `--import=${pathToFileURL(join(import.meta.dirname, file))}`

/** For the commands and tests of this run. */
export const claimTls = (): void => {
  process.env['NODE_OPTIONS'] = importing('claim-tls.ts')
}

/** Starts MiniStack on a free port, with its log in `folder`, and the requests of functions in `recordings`. */
export const startMiniStack = async (program: string, folder: string, recordings: string) => {
  // The folder is outside the project, because package.json would make the emulator's CommonJS files ES modules.
  const temporary = mkdtempSync(join(tmpdir(), 'site-admin-ministack-'))
  const log = join(folder, 'ministack.log')
  const port = await freePort()
  const endpoint = `http://${host}:${port}`
  const output = openSync(log, 'w')
  const child = spawn(program, {
    detached: true,
    stdio: ['ignore', output, output],
    env: {
      ...emulatorEnvironment({ endpoint }, 'us-east-1'),
      // Functions run on the first `node` in the PATH, which must be the Node of this process.
      PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      TMPDIR: temporary,
      // Functions inherit the environment.
      NODE_OPTIONS: importing('record-requests.ts'),
      SITE_ADMIN_RECORDED_REQUESTS: recordings,
      BIND_HOST: host,
      // The address is also used in URLs of queues, and clients warn about other host names.
      MINISTACK_HOST: host,
      GATEWAY_PORT: String(port),
      LOG_LEVEL: 'ERROR',
      // Functions and roles have only the permissions of their policies, and signatures are checked.
      AUTH: 'true',
      // The limit of concurrent functions; others wait. A burst of cold starts would occupy a small machine.
      MINISTACK_WORKER_THREADS: '4',
    },
  })
  closeSync(output)
  const stop = async () => {
    await end(child)
    rmSync(temporary, { recursive: true, force: true })
  }
  try {
    return { ...(await untilReady(child, endpoint, log)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
