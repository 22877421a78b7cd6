import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, inject, test } from 'vitest'

const run = promisify(execFile)

/** Runs the administration tool with these arguments and answers the JSON value that it prints. */
// biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever the tool prints
export const admin = async (...args: readonly string[]): Promise<any> => {
  const command = inject('target').admin
  if (!command) throw new Error('This needs the administration tool')
  const { stdout } = await run('sh', ['-c', `${command} "$@"`, 'sh', ...args, '--json'])
  return JSON.parse(stdout)
}

/** Cases that need the administration tool; without it they are skipped, and reported so. */
export const testWithAdmin = test.skipIf(!inject('target').admin)
export const describeWithAdmin = describe.skipIf(!inject('target').admin)

/** A token of the given sites, with the given options of `token issue`. */
export const issueToken = async (siteIds: readonly number[], ...options: readonly string[]): Promise<string> => {
  const sites = siteIds.flatMap((id) => ['--site', String(id)])
  return (await admin('token', 'issue', '--user', 'acceptance', ...sites, ...options)).token
}
