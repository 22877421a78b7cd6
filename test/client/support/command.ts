import { vi } from 'vitest'
import { run } from '../../../client/src/command/program.ts'
import { launch, type Program } from '../../support/program.ts'
import type { SpawnedService } from '../../support/spawned-service.ts'
import { test as base } from './site.ts'

export interface Said {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs site-files in this process, and returns its output. The environment contains only the given settings. */
export const siteFiles = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Said> => {
  let stdout = ''
  let stderr = ''
  const write = (take: (text: string) => void) => (chunk: string | Uint8Array) => {
    take(Buffer.from(chunk).toString())
    return true
  }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(
      write((text) => {
        stdout += text
      }),
    ),
    vi.spyOn(process.stderr, 'write').mockImplementation(
      write((text) => {
        stderr += text
      }),
    ),
    vi.spyOn(console, 'log').mockImplementation((text) => {
      stdout += `${text}\n`
    }),
    vi.spyOn(console, 'error').mockImplementation((text) => {
      stderr += `${text}\n`
    }),
  ]
  const settings = { SITE_ADMIN_URL: '', SITE_ADMIN_TOKEN: '', XDG_CONFIG_HOME: '/nonexistent', ...environment }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  try {
    const status = await run(args)
    return { status, stdout, stderr }
  } finally {
    for (const spy of spies) spy.mockRestore()
    vi.unstubAllEnvs()
  }
}

export const asDemo = ({ baseUrl, token }: SpawnedService): Readonly<Record<string, string>> => ({
  SITE_ADMIN_URL: baseUrl,
  SITE_ADMIN_TOKEN: token,
})

/** Runs site-files in its own process. */
export const startSiteFiles = (args: readonly string[], environment: Readonly<Record<string, string>>): Program =>
  launch('client/src/command/main.ts', args, { XDG_CONFIG_HOME: '/nonexistent', ...environment })

/** Tests of the command, with the demo site of a service. */
export const test = base.extend('demo', async ({ service }) => {
  return (...args: readonly string[]) => siteFiles(args, asDemo(service))
})
