import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface FuzzedService {
  readonly baseUrl: string
  readonly siteId: number
  readonly token: string
  stop(): Promise<void>
}

/** The service on this machine, on a data directory that ends with it. */
export const startService = async (): Promise<FuzzedService> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'site-admin-fuzz-'))
  const service = spawn(
    process.execPath,
    ['local/main.ts', '--json', '--quiet', '--port', '0', '--data-dir', dataDirectory],
    { cwd: join(import.meta.dirname, '..'), stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(service, 'exit')
  const stop = async () => {
    service.kill('SIGTERM')
    await ended
    await rm(dataDirectory, { recursive: true, force: true })
  }
  for await (const line of createInterface(service.stdout)) return { ...JSON.parse(line), stop }
  await stop()
  throw new Error('The service ended before it was ready')
}
