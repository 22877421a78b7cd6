import { setTimeout as sleep } from 'node:timers/promises'

/** The administration tool: a command line, or arguments for the program in the process of the tests. */
type AdminTool =
  | { readonly command: string }
  | { readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> }

/** The service that the suite talks to. */
export interface Target {
  readonly baseUrl: string
  /** A token with all permissions for one site. */
  readonly token: string
  /** Without it, cases that need it are skipped. */
  readonly admin: AdminTool | null
  /** The largest file that may be uploaded, in bytes. Without it, cases that need a larger one are skipped. */
  readonly largestFile: number | null
  /** A busy emulator on a small machine refuses requests at times. Reads are sent again then. */
  readonly isSlow: boolean
  /** Sends a request after some seconds. They pass at once for a service with a clock of its own. */
  readonly later: <Value>(seconds: number, send: () => Promise<Value>) => Promise<Value>
}

const later: Target['later'] = (seconds, send) => sleep(seconds * 1000).then(send)

const fromEnvironment = (): Target | undefined => {
  const { ACCEPTANCE_BASE_URL: baseUrl, ACCEPTANCE_TOKEN: token, ACCEPTANCE_ADMIN: command } = process.env
  if (!baseUrl || !token) return undefined
  // Arguments in place of a command, separated by blanks: the program then runs in the process of the tests.
  const args = process.env['ACCEPTANCE_ADMIN_ARGS']?.split(' ')
  const admin = args ? { args, environment: {} } : command ? { command } : null
  const largestFile = Number(process.env['ACCEPTANCE_LARGEST_FILE']) || null
  const isSlow = process.env['ACCEPTANCE_PATIENCE'] !== undefined
  return { baseUrl: baseUrl.replace(/\/+$/, ''), token, admin, largestFile, isSlow, later }
}

/** In bytes. Small, so that tests send a file over the limit quickly. */
const largestFile = 2_000_000

export type StartedHere = Pick<Target, 'baseUrl' | 'token' | 'admin'> & Partial<Pick<Target, 'later'>>

/**
 * A service in the process of the tests, shared by all test files of that process. A changed source takes effect in the
 * next process.
 */
const startHere = async (): Promise<Target> => {
  process.env['LARGEST_FILE'] = String(largestFile)
  const onAws = process.env['ACCEPTANCE_STORE'] === 'aws'
  const { service } = await (onAws ? import('./on-aws.ts') : import('./on-machine.ts'))
  return { later, ...service, largestFile, isSlow: false }
}

/** The service of `npm run acceptance`, or one that is started for the tests. */
export const target = fromEnvironment() ?? (await startHere())
