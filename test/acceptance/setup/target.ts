import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestProject } from 'vitest/node'

/** The administration tool: a command line, or arguments for the program in the process of the tests. */
export type AdminTool =
  | { readonly command: string }
  | { readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> }

/** The service that the suite talks to. */
export interface Target {
  readonly baseUrl: string
  /** A token with all permissions for one site. */
  readonly token: string
  /** Without it, cases that need it are skipped. */
  readonly admin: AdminTool | null
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
  return { baseUrl: baseUrl.replace(/\/+$/, ''), token, admin: admin ? { command: admin } : null, largestFile, isSlow }
}

/** Small, so that a file over the limit is sent in no time; in bytes. */
const largestFileLocally = 2_000_000

/** Starts a program that prints one line of JSON when it is ready. */
const startProgram = async (args: readonly string[]) => {
  const service = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LARGEST_FILE: String(largestFileLocally) },
  })
  const [line] = (await Promise.race([
    once(createInterface(service.stdout), 'line'),
    once(service, 'exit').then(([code]) => {
      throw new Error(`The service ended with status ${code} before it was ready`)
    }),
  ])) as [string]
  const started = JSON.parse(line) as { baseUrl: string; token: string; endpoint?: string }
  const stop = async () => {
    service.kill('SIGTERM')
    await once(service, 'exit')
  }
  return { started, stop }
}

interface Started {
  readonly target: Target
  readonly stop: () => Promise<void>
}

/** Starts the service on this machine, with two data centres over a directory of its own. */
const startOnMachine = async (): Promise<Started> => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'site-admin-'))
  const { started, stop } = await startProgram([
    'local/main.js',
    '--json',
    '--quiet',
    '--data-centres',
    'us:0,eu:0',
    '--data-dir',
    dataDirectory,
  ])
  const { baseUrl, token } = started
  const admin = { args: ['--data-dir', dataDirectory], environment: {} }
  return {
    target: { baseUrl, token, admin, largestFile: largestFileLocally, isSlow: false },
    async stop() {
      await stop()
      rmSync(dataDirectory, { recursive: true, force: true })
    },
  }
}

/** Starts the functions of AWS over tables and a bucket in memory. */
const startOnAws = async (): Promise<Started> => {
  const { started, stop } = await startProgram(['test/acceptance/setup/aws-in-memory.ts', String(largestFileLocally)])
  const { baseUrl, token, endpoint = '' } = started
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
  const admin = { args: ['--target', 'aws'], environment }
  return { target: { baseUrl, token, admin, largestFile: largestFileLocally, isSlow: false }, stop }
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
  const { target, stop } = await (project.name === 'acceptance-aws' ? startOnAws() : startOnMachine())
  project.provide('target', target)
  return stop
}
