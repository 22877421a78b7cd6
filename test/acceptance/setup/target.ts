import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestProject } from 'vitest/node'

/** The service that the suite talks to. */
export interface Target {
  readonly baseUrl: string
  /** A token with all permissions for one site. */
  readonly token: string
  /** The command line of the administration tool; without it, cases that need it are skipped. */
  readonly admin: string | null
  /** The largest file that may be uploaded, in bytes; without it, cases that need one that is larger are skipped. */
  readonly largestFile: number | null
  /**
   * Whether it may be too busy for a request, as an emulator on a small machine is at times: what only reads is sent
   * again then.
   */
  readonly isSlow: boolean
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target
  }
}

const fromEnvironment = (): Target | undefined => {
  const { ACCEPTANCE_BASE_URL: baseUrl, ACCEPTANCE_TOKEN: token, ACCEPTANCE_ADMIN: admin } = process.env
  if (!baseUrl || !token) return undefined
  const largestFile = Number(process.env['ACCEPTANCE_LARGEST_FILE']) || null
  const isSlow = process.env['ACCEPTANCE_PATIENCE'] !== undefined
  return { baseUrl: baseUrl.replace(/\/+$/, ''), token, admin: admin || null, largestFile, isSlow }
}

/** Small, so that a file over the limit is sent in no time; in bytes. */
const largestFileLocally = 2_000_000

/** Starts the service on this machine, with two data centres over a directory of its own. */
const startLocally = async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'site-admin-'))
  const service = spawn(
    process.execPath,
    ['local/main.js', '--json', '--quiet', '--data-centres', 'us:0,eu:0', '--data-dir', dataDirectory],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, LARGEST_FILE: String(largestFileLocally) },
    },
  )
  const [line] = (await Promise.race([
    once(createInterface(service.stdout), 'line'),
    once(service, 'exit').then(([code]) => {
      throw new Error(`The service ended with status ${code} before it was ready`)
    }),
  ])) as [string]
  const { baseUrl, token } = JSON.parse(line) as { baseUrl: string; token: string }
  const admin = `"${process.execPath}" admin/main.js --data-dir "${dataDirectory}"`
  const target: Target = { baseUrl, token, admin, largestFile: largestFileLocally, isSlow: false }
  const stop = async () => {
    service.kill('SIGTERM')
    await once(service, 'exit')
    rmSync(dataDirectory, { recursive: true, force: true })
  }
  return { target, stop }
}

/** Hands the target to the tests: what `npm run acceptance` names, else a service started for them. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const named = fromEnvironment()
  if (named) {
    if (!named.admin)
      console.warn('\nNO --admin COMMAND: cases that need a second site, another token and the like are SKIPPED.\n')
    if (!named.largestFile) console.warn('\nNO --largest-file BYTES: cases that exceed it are SKIPPED.\n')
    project.provide('target', named)
    return undefined
  }
  const { target, stop } = await startLocally()
  project.provide('target', target)
  return stop
}
