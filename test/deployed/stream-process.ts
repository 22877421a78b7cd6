import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { streaming } from '../../lib/config/functions.ts'
import { freePort, isListening } from '../support/listen.ts'

const host = '127.0.0.1'
const patience = 10_000

/** Starts the function from its bundle. `environment` has all settings except the two that are set here. */
export const startStreamProcess = async (bundle: string, environment: NodeJS.ProcessEnv) => {
  const port = await freePort()
  const secret = randomBytes(24).toString('hex')
  const child = spawn(process.execPath, ['index.js'], {
    cwd: bundle,
    // The function logs a line per request.
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...environment,
      ORIGIN_SECRETS: secret,
      AWS_LAMBDA_HTTP_ENDPOINT: `${host}:${port}`,
      NODE_OPTIONS: streaming.nodeOptions,
    },
  })
  const ended = once(child, 'exit')
  const deadline = Date.now() + patience
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('The function that streams does not listen')
    await sleep(50)
  }
  return {
    url: `http://${host}:${port}`,
    port,
    headers: { 'X-Origin-Secret': secret },
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export type StreamProcess = Awaited<ReturnType<typeof startStreamProcess>>
