import { type Outcome, run } from './program.ts'

/** Runs `site-admin` on a data directory. */
export const administer = (dataDirectory: string, args: readonly string[], input?: string): Promise<Outcome> =>
  run('admin/main.js', ['--data-dir', dataDirectory, ...args], input)

/** Runs `site-admin --json` and answers the value it prints. Rejects when the command does not end well. */
export const administerJson = async (dataDirectory: string, args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = await administer(dataDirectory, ['--json', ...args], input)
  if (status !== 0) throw new Error(`site-admin ${args.join(' ')} ended with status ${status}: ${stderr}`)
  return JSON.parse(stdout)
}
