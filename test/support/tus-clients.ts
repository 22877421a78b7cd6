import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Order } from '../clients/tus/order.ts'
import { launchBrowser } from './browser.ts'
import { closeAtOnce } from './listen.ts'
import { preparePackages } from './node-packages.ts'
import { preparePython } from './python-environment.ts'

export interface Wanted {
  readonly endpoint: string
  readonly token: string
  readonly name: string
  readonly content: Buffer
  /** Bytes per request. Default: all. */
  readonly chunkSize?: number
  /** The client is killed after this many bytes. */
  readonly dieAt: number
}

/**
 * Uploads a file, is killed during the upload, and continues the upload in another process or page. Returns the offset
 * where the upload continued.
 */
type KilledClient = (wanted: Wanted) => Promise<number>

export interface TusClients {
  readonly clients: Readonly<Record<string, KilledClient>>
  /** Runs a script in a folder. The extension of its name tells the language. Resolves at the end of the script. */
  run(
    name: 'documented.mjs' | 'documented.py',
    script: string,
    folder: string,
    env: Readonly<Record<string, string>>,
  ): Promise<void>
  /**
   * Uploads with tus-js-client in Node, kills another process during the upload, and continues when that process runs
   * again. Returns the offset where the upload continued.
   */
  uploadAndKill(wanted: Omit<Wanted, 'dieAt'>, pid: number, at: number): Promise<number>
  close(): Promise<void>
}

const source = join(import.meta.dirname, '..', 'clients', 'tus')
const local = join(import.meta.dirname, '..', '..', '.local', 'clients')

export const tusRoom = join(local, 'tus')

interface Ended {
  readonly signal: NodeJS.Signals | null
  /** The last offset from which the client reported that it continues. */
  readonly resumedAt: number
}

const run = async (
  program: string,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio = {},
): Promise<Ended> => {
  const child = spawn(program, args, { ...options, stdio: 'pipe' })
  const [[status, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(`${program} ${args[0]} failed:\n${stdout}${stderr}`)
  return { signal, resumedAt: Number([...stdout.matchAll(/^Goes on at (\d+)/gm)].at(-1)?.[1]) }
}

/** Runs a client twice: the first time, it is killed. */
const twice = async (program: string, args: (die: boolean) => readonly string[]): Promise<number> => {
  const { signal } = await run(program, args(true))
  if (signal !== 'SIGKILL') throw new Error(`${program} ended before it was killed`)
  return (await run(program, args(false))).resumedAt
}

/** The origin of the pages, which differs from the origin of the service. */
const openOrigin = async (script: string) => {
  let content: Uint8Array = Buffer.alloc(0)
  const server = createServer((request, response) => {
    if (request.url === '/content') response.end(content)
    else if (request.url === '/page.js') response.setHeader('Content-Type', 'text/javascript').end(script)
    else response.setHeader('Content-Type', 'text/html').end('<!doctype html><script src="/page.js"></script>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    serve(bytes: Uint8Array) {
      content = bytes
    },
    close: () => closeAtOnce(server),
  }
}

/**
 * Bytes per second of a page that is closed during its upload: slow enough that the test can close the page in time.
 */
const slowly = 12 * 1024 * 1024

const openPage = async (context: BrowserContext, url: string, isSlow: boolean): Promise<Page> => {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  const limits = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: isSlow ? slowly : -1 }
  await session.send('Network.emulateNetworkConditions', limits)
  await page.goto(url)
  return page
}

/**
 * Uploads in a page until the upload is complete, or until this many bytes were sent. Returns the offset where the
 * upload continued, if it continued.
 */
const uploadIn = async (page: Page, order: Order, until: number): Promise<number> => {
  let resumedAt = Number.NaN
  const reached = Promise.withResolvers<void>()
  await page.exposeFunction('progress', (sent: number) => {
    if (sent >= until) reached.resolve()
  })
  await page.exposeFunction('resumed', (offset: number) => {
    resumedAt = offset
  })
  const ended = page.evaluate(`upload(${JSON.stringify(order)}, progress, resumed)`)
  ended.catch(() => {})
  const first = await Promise.race([ended.then(() => 'ended' as const), reached.promise])
  if (first === 'ended' && until < Number.POSITIVE_INFINITY) {
    throw new Error(`${order.client} ended before its page was closed`)
  }
  return resumedAt
}

const inBrowser =
  (browser: Browser, origin: Awaited<ReturnType<typeof openOrigin>>, client: Order['client']): KilledClient =>
  async ({ content, dieAt, ...wanted }) => {
    origin.serve(content)
    const { endpoint, token, name, chunkSize } = wanted
    const order: Order = { client, endpoint, token, name, ...(chunkSize !== undefined && { chunkSize }) }
    const context = await browser.newContext()
    try {
      const first = await openPage(context, origin.url, true)
      await uploadIn(first, order, dieAt)
      await first.close()
      return await uploadIn(await openPage(context, origin.url, false), order, Number.POSITIVE_INFINITY)
    } finally {
      await context.close()
    }
  }

/** Installs the tus clients, and a browser for the clients that need one. */
export const openTusClients = async (): Promise<TusClients> => {
  preparePackages(source, tusRoom)
  const python = preparePython(join(local, 'tus-python'), join(source, 'requirements.txt'))
  const script = await build({ entryPoints: [join(tusRoom, 'page.ts')], bundle: true, write: false, format: 'iife' })
  const origin = await openOrigin(script.outputFiles[0]?.text ?? '')
  const browser = await launchBrowser()
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-tus-'))

  const filesOf = ({ name, content }: Pick<Wanted, 'name' | 'content'>) => {
    const file = join(folder, name)
    writeFileSync(file, content)
    return { file, memory: `${file}.json` }
  }
  const inNode = ({ endpoint, token, chunkSize, ...wanted }: Omit<Wanted, 'dieAt'>): readonly string[] => {
    const { file, memory } = filesOf(wanted)
    const size = chunkSize === undefined ? [] : ['--chunk', String(chunkSize)]
    const own = ['--endpoint', endpoint, '--token', token, '--file', file, '--memory', memory]
    return [join(tusRoom, 'upload.mjs'), ...own, ...size]
  }

  return {
    clients: {
      'tus-js-client in Node': (wanted) => {
        const args = inNode(wanted)
        return twice(process.execPath, (dies) => [...args, ...(dies ? ['--die', String(wanted.dieAt)] : [])])
      },
      tuspy: ({ endpoint, token, dieAt, chunkSize = 4 * 1024 * 1024, ...wanted }) => {
        const { file, memory } = filesOf(wanted)
        const args = [join(tusRoom, 'upload.py'), endpoint, token, file, memory, String(chunkSize)]
        return twice(join(python, 'python'), (dies) => [...args, dies ? String(dieAt) : '0'])
      },
      'tus-js-client in a browser': inBrowser(browser, origin, 'tus-js-client'),
      'Uppy in a browser': inBrowser(browser, origin, 'Uppy'),
    },
    async run(name, script, cwd, env) {
      // Node searches for packages from the folder of the script.
      const file = join(tusRoom, name)
      writeFileSync(file, script)
      const program = name === 'documented.py' ? join(python, 'python') : process.execPath
      await run(program, [file], { cwd, env: { ...process.env, ...env } })
    },
    uploadAndKill: async (wanted, pid, at) =>
      (await run(process.execPath, [...inNode(wanted), '--kill', String(pid), '--at', String(at)])).resumedAt,
    async close() {
      await browser.close()
      origin.close()
      rmSync(folder, { recursive: true })
    },
  }
}
