import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the packed file of the package. */
export const packInto = async (folder: string): Promise<string> => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: join(import.meta.dirname, '..', '..'),
  })
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }]
  return join(folder, filename)
}

interface Installed {
  readonly command: string
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

interface Findings {
  readonly version: string
  readonly help: string
  // `docs` is the status of `GET /docs`, and `console` contains the statuses of all files of the console. `isRead`
  // tells whether a stored file was read back.
  readonly docs: number
  readonly console: readonly number[]
  readonly isRead: boolean
  // The faults that the check of the data and of the backup has found.
  readonly faults: readonly object[]
  // The exit status of the stopped service.
  readonly ended: number | null
}

const statusOf = async (url: string): Promise<number> => {
  const response = await fetch(url)
  await response.arrayBuffer()
  return response.status
}

const statusesOfPage = async (url: string): Promise<readonly number[]> => {
  const page = await fetch(url)
  const files = [...(await page.text()).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, file = '']) => new URL(file, url))
  const statuses = await Promise.all(files.map(({ href }) => statusOf(href)))
  return [...new Set([page.status, ...statuses])]
}

/** Does what a new operator does with `site-admin`: serves, stores a file, backs up, restores, checks. */
export const workWith = async ({ command, folder, environment }: Installed): Promise<Findings> => {
  const options = { cwd: folder, env: environment }
  const ask = async (...args: readonly string[]) => (await run(command, args, options)).stdout
  const service = spawn(command, ['serve', '--port', '0', '--json', '--quiet'], {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  const [line] = (await Promise.race([once(createInterface(service.stdout), 'line'), ended])) as [unknown]
  if (typeof line !== 'string') throw new Error(`The service ended with status ${line} before it was ready`)
  const { baseUrl, token } = JSON.parse(line) as { readonly baseUrl: string; readonly token: string }
  const file = `${baseUrl}/api/v2/admin/sites/current/storage/large.bin`
  const body = Buffer.alloc(100_000, 'x')
  await fetch(file, { method: 'PUT', headers: { Authorization: token }, body })
  const pages = { docs: await statusOf(`${baseUrl}/docs`), console: await statusesOfPage(`${baseUrl}/console`) }
  const stored = await fetch(file, { headers: { Authorization: token } })
  const isRead = body.equals(Buffer.from(await stored.arrayBuffer()))
  await ask('backup', 'backup')
  await ask('restore', 'backup', '--data-dir', 'restored')
  service.kill('SIGTERM')
  const [status] = (await ended) as [number | null]
  const { faults } = JSON.parse(await ask('check', '--bytes', '--json', '--data-dir', 'restored')) as Pick<
    Findings,
    'faults'
  >
  return {
    version: (await ask('--version')).trim(),
    help: await ask('--help'),
    ...pages,
    isRead,
    faults,
    ended: status,
  }
}
