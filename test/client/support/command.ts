import { expect, vi } from 'vitest'
import { run } from '../../../client/src/command/program.ts'
import { launch, type Program } from '../../support/program.ts'
import { type CommandOutput, runHere } from '../../support/run-here.ts'
import type { SpawnedService } from '../../support/spawned-service.ts'
import { test as base } from './site.ts'

/** Runs site-files in this process with only the given environment and input, and returns its output. */
export const siteFiles = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<CommandOutput> => {
  const settings = { SITE_ADMIN_URL: '', SITE_ADMIN_TOKEN: '', XDG_CONFIG_HOME: '/nonexistent', ...environment }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  try {
    return await runHere(run, args, input)
  } finally {
    vi.unstubAllEnvs()
  }
}

export const eventsIn = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

export const outcome = (status: number, message: string) => ({ status, stderr: expect.stringContaining(message) })

export const asDemo = ({ baseUrl, token }: Pick<SpawnedService, 'baseUrl' | 'token'>): Record<string, string> => ({
  SITE_ADMIN_URL: baseUrl,
  SITE_ADMIN_TOKEN: token,
})

export const startSiteFiles = (args: readonly string[], environment: Readonly<Record<string, string>>): Program =>
  launch('client/src/command/main.ts', args, { XDG_CONFIG_HOME: '/nonexistent', ...environment })

export const test = base.extend('demo', async ({ service }) => {
  return (...args: readonly string[]) => siteFiles(args, asDemo(service))
})
