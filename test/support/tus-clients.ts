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
import { preparePackages } from './node-packages.ts'
import { preparePython } from './python-environment.ts'

/** A file that a client is to upload. */
export interface Wanted {
  /** The URL of the folder that it goes into. */
  readonly endpoint: string
  readonly token: string
  readonly name: string
  readonly content: Buffer
  /** How many bytes go in one request; left out, all of them. */
  readonly chunkSize?: number
  /** After how many bytes the client is killed. */
  readonly dieAt: number
}

/**
 * Uploads a file, is killed on the way, and goes on in another process or page. Answers at which offset that went on.
 */
type KilledClient = (wanted: Wanted) => Promise<number>

export interface TusClients {
  readonly clients: Readonly<Record<string, KilledClient>>
  /** Runs a script in the language of its name, in a folder. Answers when it has come to its end. */
  run(
    name: 'documented.mjs' | 'documented.py',
    script: string,
    folder: string,
    env: Readonly<Record<string, string>>,
  ): Promise<void>
  /**
   * Uploads with tus-js-client in Node, which kills another process on its way, and goes on when that is back. Answers
   * where it went on.
   */
  uploadAndKill(wanted: Omit<Wanted, 'dieAt'>, pid: number, at: number): Promise<number>
  close(): Promise<void>
}

const source = join(import.meta.dirname, '..', 'clients', 'tus')
const local = join(import.meta.dirname, '..', '..', '.local', 'clients')

/** Where the packages of the clients are, and their scripts with them. */
export const tusRoom = join(local, 'tus')

interface Ended {
  readonly signal: NodeJS.Signals | null
  /** The last offset that it said it went on at. */
  readonly goesOnAt: number
}

/** Runs a client to its end, however that comes. Throws when it fails. */
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
  return { signal, goesOnAt: Number([...stdout.matchAll(/^Goes on at (\d+)/gm)].at(-1)?.[1]) }
}

/** Runs a client twice: it is killed the first time. */
const twice = async (program: string, args: (die: boolean) => readonly string[]): Promise<number> => {
  const { signal } = await run(program, args(true))
  if (signal !== 'SIGKILL') throw new Error(`${program} came to its end before it was killed`)
  return (await run(program, args(false))).goesOnAt
}

/** The origin that pages come from: another one than that of the service. */
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
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * So many bytes a second leave a page that is to be closed on its way: fast enough, and not before anybody can look.
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
 * Uploads in a page until the upload is complete, or so many bytes have been sent. Answers where it went on, if it did.
 */
const uploadIn = async (page: Page, order: Order, until: number): Promise<number> => {
  let goesOnAt = Number.NaN
  const reached = Promise.withResolvers<void>()
  await page.exposeFunction('progress', (sent: number) => {
    if (sent >= until) reached.resolve()
  })
  await page.exposeFunction('resumed', (offset: number) => {
    goesOnAt = offset
  })
  const ended = page.evaluate(`upload(${JSON.stringify(order)}, progress, resumed)`)
  ended.catch(() => {})
  const first = await Promise.race([ended.then(() => 'ended' as const), reached.promise])
  if (first === 'ended' && until < Number.POSITIVE_INFINITY) {
    throw new Error(`${order.client} came to its end before its page was closed`)
  }
  return goesOnAt
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

/** Installs the clients that speak tus, and a browser for those that run in one. */
export const openTusClients = async (): Promise<TusClients> => {
  preparePackages(source, tusRoom)
  const python = preparePython(join(local, 'tus-python'), join(source, 'requirements.txt'))
  const script = await build({ entryPoints: [join(tusRoom, 'page.ts')], bundle: true, write: false, format: 'iife' })
  const origin = await openOrigin(script.outputFiles[0]?.text ?? '')
  const browser = await launchBrowser()
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-tus-'))

  /** Where a file lies, and where its client keeps what it has begun. */
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
      // Packages are found from where the script lies.
      const file = join(tusRoom, name)
      writeFileSync(file, script)
      const program = name === 'documented.py' ? join(python, 'python') : process.execPath
      await run(program, [file], { cwd, env: { ...process.env, ...env } })
    },
    uploadAndKill: async (wanted, pid, at) =>
      (await run(process.execPath, [...inNode(wanted), '--kill', String(pid), '--at', String(at)])).goesOnAt,
    async close() {
      await browser.close()
      origin.close()
      rmSync(folder, { recursive: true })
    },
  }
}
