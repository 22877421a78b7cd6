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

/** The same for a command that may fail after it has told what it has done. */
// biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever the tool prints
export const outcomeOf = (...args: readonly string[]): Promise<any> =>
  admin(...args).catch((failure) => {
    if (failure.code !== 1 || failure.stdout === '') throw failure
    return JSON.parse(failure.stdout)
  })

/** Cases that need the administration tool; without it they are skipped, and reported so. */
export const testWithAdmin = test.skipIf(!inject('target').admin)
export const describeWithAdmin = describe.skipIf(!inject('target').admin)

/** A token of the given sites, with the given options of `token issue`. */
export const issueToken = async (siteIds: readonly number[], ...options: readonly string[]): Promise<string> => {
  const sites = siteIds.flatMap((id) => ['--site', String(id)])
  return (await admin('token', 'issue', '--user', 'acceptance', ...sites, ...options)).token
}

let home: Promise<string> | undefined

/** The id of the data centre that answers the suite's requests. */
const dataCentre = async (): Promise<string> => {
  const dataCentres: { readonly id: string; readonly url: string }[] = await admin('data-centre', 'list')
  const own = dataCentres.find(({ url }) => url === inject('target').baseUrl)
  if (!own) throw new Error(`No data centre has the base URL ${inject('target').baseUrl}`)
  return own.id
}

/** A new site in the data centre that answers the suite's requests, with the given options of `site create`. */
export const createSite = async (name: string, ...options: readonly string[]): Promise<number> => {
  home ??= dataCentre()
  return (await admin('site', 'create', '--name', name, '--data-centre', await home, ...options)).id
}
