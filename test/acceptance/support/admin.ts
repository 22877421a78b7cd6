import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, test } from 'vitest'
import { target } from '../setup/target.ts'

const runFile = promisify(execFile)

interface Outcome {
  readonly status: unknown
  readonly stdout: string
  readonly stderr: string
}

const runCommand = (command: string, args: readonly string[]): Promise<Outcome> =>
  runFile('sh', ['-c', `${command} "$@"`, 'sh', ...args]).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    ({ code, stdout = '', stderr = '' }) => ({ status: code, stdout, stderr }),
  )

const runOnce = async (args: readonly string[]): Promise<Outcome> => {
  const tool = target.admin
  if (!tool) throw new Error('This case needs the administration tool')
  if ('command' in tool) return runCommand(tool.command, args)
  Object.assign(process.env, tool.environment)
  const { administerWith } = await import('../../support/administration.ts')
  return administerWith([...tool.args, ...args])
}

const isTooBusy = ({ status, stdout, stderr }: Outcome): boolean =>
  status === 1 && stdout === '' && /\bis busy or does not answer\b/.test(stderr)

const mostTries = 30

/** Repeats the command while its message says that the stores are busy. */
const run = async (args: readonly string[]): Promise<Outcome> => {
  for (let tries = 1; ; tries++) {
    const outcome = await runOnce([...args, '--json'])
    if (!isTooBusy(outcome) || tries === mostTries) return outcome
  }
}

/** Runs the administration tool with these arguments, and returns the printed JSON value. */
// biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever the tool prints
export const admin = async (...args: readonly string[]): Promise<any> => {
  const { status, stdout, stderr } = await run(args)
  if (status !== 0) throw new Error(`site-admin ${args.join(' ')} ended with status ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Like `admin`, for a command that may print its result and then fail. */
// biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever the tool prints
export const outcomeOf = async (...args: readonly string[]): Promise<any> => {
  const { status, stdout, stderr } = await run(args)
  if ((status !== 0 && status !== 1) || stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** Cases that need the administration tool. Without the tool, they are reported as skipped. */
export const testWithAdmin = test.skipIf(!target.admin)
export const describeWithAdmin = describe.skipIf(!target.admin)

/** A token for the given sites, with the given permissions or rights. */
export const issueToken = async (siteIds: readonly number[], ...permissions: readonly string[]): Promise<string> => {
  if (target.directory) return target.directory.issueToken(siteIds, permissions)
  const sites = siteIds.flatMap((id) => ['--site', String(id)])
  const options = permissions.flatMap((one) => [one.includes(':') ? '--right' : '--permission', one])
  return (await admin('token', 'issue', '--user', 'acceptance', ...sites, ...options)).token
}

/** The data centre under test, and another one if there is one. */
export const findDataCentres = async () => {
  const dataCentres: { readonly id: string; readonly url: string }[] = await admin('data-centre', 'list')
  const here = dataCentres.find(({ url }) => url === target.baseUrl)
  if (!here) throw new Error(`No data centre has the base URL ${target.baseUrl}`)
  return { here, there: dataCentres.find(({ url }) => url !== target.baseUrl) }
}

let found: ReturnType<typeof findDataCentres> | undefined

/** A new site in the data centre under test, with the given options of `site create`. */
export const createSite = async (name: string, ...options: readonly string[]): Promise<number> => {
  if (target.directory && options.length === 0) return target.directory.createSite(name)
  found ??= findDataCentres()
  const { here } = await found
  return (await admin('site', 'create', '--name', name, '--data-centre', here.id, ...options)).id
}
