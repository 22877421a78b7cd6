import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from '../support/browser.ts'
import { closeAtOnce, listen } from '../support/listen.ts'
import { preparePackages, preparePython } from '../support/pinned-packages.ts'
import type { Order } from './tus/order.ts'

export interface Wanted extends Order {
  readonly content: Buffer
}

/** Uploads a file, is killed after `dieAt` bytes, and continues elsewhere. Returns the offset of the continuation. */
type KilledClient = (wanted: Wanted, dieAt: number) => Promise<number>

const source = join(import.meta.dirname, 'tus')
const local = join(import.meta.dirname, '..', '..', '.cache', 'clients')

export const tusRoom = join(local, 'tus')

const run = promisify(execFile)

/** The last offset from which the client reported that it continues. */
const resumedAt = ({ stdout }: { readonly stdout: string }): number =>
  Number([...stdout.matchAll(/^Goes on at (\d+)/gm)].at(-1)?.[1])

/** Runs a client twice: the first time, it is killed. */
const twice = async (program: string, args: (die: boolean) => readonly string[]): Promise<number> => {
  const ended = await run(program, args(true)).catch((error) => error)
  if (ended.signal !== 'SIGKILL') throw new Error(`${program} ended before it was killed`, { cause: ended })
  return resumedAt(await run(program, args(false)))
}

/** The origin of the pages, which differs from the origin of the service. */
const openOrigin = async (script: string) => {
  let content: Uint8Array = Buffer.alloc(0)
  const server = createServer((request, response) => {
    if (request.url === '/content') response.end(content)
    else if (request.url === '/page.js') response.setHeader('Content-Type', 'text/javascript').end(script)
    else response.setHeader('Content-Type', 'text/html').end('<!doctype html><script src="/page.js"></script>')
  })
  return {
    url: await listen(server),
    serve(bytes: Uint8Array) {
      content = bytes
    },
    close: () => closeAtOnce(server),
  }
}

/** Bytes per second of a page that is closed during its upload, slow enough to be closed in time. */
const slowly = 4 * 1024 * 1024

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
    throw new Error('Uppy ended before its page was closed')
  }
  return resumedAt
}

const inBrowser =
  (browser: Browser, origin: Awaited<ReturnType<typeof openOrigin>>): KilledClient =>
  async ({ content, ...order }, dieAt) => {
    origin.serve(content)
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
export const openTusClients = async () => {
  preparePackages(source, tusRoom)
  const python = join(preparePython(join(local, 'tus-python'), join(source, 'requirements.txt')), 'python')
  const script = await build({ entryPoints: [join(tusRoom, 'page.ts')], bundle: true, write: false, format: 'iife' })
  const origin = await openOrigin(script.outputFiles[0]?.text ?? '')
  const browser = await launchBrowser()
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-tus-'))

  const filesOf = ({ name, content }: Wanted) => {
    const file = join(folder, name)
    writeFileSync(file, content)
    return { file, memory: `${file}.json` }
  }
  const inNode = (wanted: Wanted): readonly string[] => {
    const { file, memory } = filesOf(wanted)
    const own = ['--endpoint', wanted.endpoint, '--token', wanted.token, '--file', file, '--memory', memory]
    return [join(tusRoom, 'upload.mjs'), ...own]
  }
  const clients: Readonly<Record<string, KilledClient>> = {
    'tus-js-client in Node': (wanted, dieAt) => {
      const args = inNode(wanted)
      return twice(process.execPath, (dies) => [...args, ...(dies ? ['--die', String(dieAt)] : [])])
    },
    tuspy: (wanted, dieAt) => {
      const { file, memory } = filesOf(wanted)
      const args = [join(tusRoom, 'upload.py'), wanted.endpoint, wanted.token, file, memory]
      return twice(python, (dies) => [...args, dies ? String(dieAt) : '0'])
    },
    'Uppy in a browser': inBrowser(browser, origin),
  }

  return {
    clients,
    /** Runs a script in a folder. The extension of its name tells the language. */
    async run(name: 'documented.mjs' | 'documented.py', script: string, cwd: string, env: NodeJS.ProcessEnv) {
      // Node searches for packages from the folder of the script.
      const file = join(tusRoom, name)
      writeFileSync(file, script)
      await run(name === 'documented.py' ? python : process.execPath, [file], { cwd, env: { ...process.env, ...env } })
    },
    /**
     * Uploads with tus-js-client in Node in several requests, kills another process during the upload, and continues
     * when that process runs again. Returns the offset where the upload continued.
     */
    async uploadAndKill(wanted: Wanted, pid: number, at: number): Promise<number> {
      const kill = ['--chunk', String(8 * 1024 * 1024), '--kill', String(pid), '--at', String(at)]
      return resumedAt(await run(process.execPath, [...inNode(wanted), ...kill]))
    },
    async close() {
      await browser.close()
      origin.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export type TusClients = Awaited<ReturnType<typeof openTusClients>>
