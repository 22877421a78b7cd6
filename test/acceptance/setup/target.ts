import { setTimeout as sleep } from 'node:timers/promises'
import type { openTestDirectory } from './directory.ts'

/** The administration tool: a shell command, or arguments for `site-admin`, which then runs in the test process. */
type AdminTool =
  | { readonly command: string }
  | { readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> }

export interface Target {
  readonly baseUrl: string
  /** A token with all permissions for one site. */
  readonly token: string
  /** If null, cases that need the administration tool are skipped. */
  readonly admin: AdminTool | null
  /** The sites and tokens of a service that runs in the test process. */
  readonly directory?: ReturnType<typeof openTestDirectory>
  /** The largest allowed file, in bytes. If null, cases that upload a larger file are skipped. */
  readonly largestFile: number | null
  /** A busy emulator on a small machine sometimes refuses requests. If true, reads that fail are repeated. */
  readonly isSlow: boolean
  /** True if webhooks may have targets on this machine. Otherwise, the cases that need such targets are skipped. */
  readonly permitsPrivateWebhooks: boolean
  /**
   * Sends a request some seconds later. If the tests control the clock of the service, only this clock advances, and
   * the times of files on S3 stay real.
   */
  readonly later: <Value>(seconds: number, send: () => Promise<Value>) => Promise<Value>
}

const later: Target['later'] = (seconds, send) => sleep(seconds * 1000).then(send)

const fromEnvironment = (): Target | undefined => {
  const { ACCEPTANCE_BASE_URL: baseUrl, ACCEPTANCE_TOKEN: token, ACCEPTANCE_ADMIN: command } = process.env
  if (!baseUrl || !token) return undefined
  // Arguments for `site-admin`, separated by spaces, instead of a command. `site-admin` then runs in the test process.
  const args = process.env['ACCEPTANCE_ADMIN_ARGS']?.split(' ')
  const admin = args ? { args, environment: {} } : command ? { command } : null
  const largestFile = Number(process.env['ACCEPTANCE_LARGEST_FILE']) || null
  const isSlow = process.env['ACCEPTANCE_PATIENCE'] !== undefined
  const address = baseUrl.replace(/\/+$/, '')
  return { baseUrl: address, token, admin, largestFile, isSlow, permitsPrivateWebhooks: false, later }
}

/** In bytes. It is small, so that a test can send a larger file quickly. */
const largestFile = 2_000_000

export type StartedHere = Pick<Target, 'baseUrl' | 'token' | 'admin'> & Partial<Pick<Target, 'later' | 'directory'>>

/** A service in the test process, used by all its test files. A changed source takes effect in the next process. */
const startHere = async (): Promise<Target> => {
  process.env['LARGEST_FILE'] = String(largestFile)
  await import('./quick-passwords.ts')
  const onAws = process.env['ACCEPTANCE_STORE'] === 'aws'
  const { service } = await (onAws ? import('./on-aws.ts') : import('./on-machine.ts'))
  return { later, ...service, largestFile, isSlow: false, permitsPrivateWebhooks: true }
}

/** The service of `npm run acceptance`, or a service that is started for the tests. */
export const target = fromEnvironment() ?? (await startHere())
