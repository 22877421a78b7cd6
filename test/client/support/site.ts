import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { test as base } from 'vitest'
import { type Content, connect, type Files, type PutOptions, type SiteClient } from '../../../client/src/index.ts'
import { pull, push, type SyncEvent, type SyncOptions } from '../../../client/src/sync/index.ts'
import { makeDirectory, removeDirectory } from '../../support/directory.ts'
import { listenInTest } from '../../support/listen.ts'
import { hostHere } from '../../support/serve-here.ts'
import { type Decide, startProxy } from './proxy.ts'

/** The texts of files by path. Bytes are read as Latin-1, and long texts are shown as a digest. */
export type Texts = Readonly<Record<string, string>>

export const all = <Item>(items: AsyncIterable<Item>): Promise<Item[]> => Readable.from(items).toArray()

const mostShown = 100_000

const asText = (bytes: Buffer): string =>
  bytes.length > mostShown ? createHash('sha256').update(bytes).digest('hex') : bytes.toString('latin1')

export const writeTree = async (directory: string, texts: Texts): Promise<void> => {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text, 'latin1')
  }
}

/** The files below a folder, without the state folder. */
export const readTree = async (directory: string): Promise<Texts> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const texts: Record<string, string> = {}
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const location = join(entry.parentPath, entry.name)
    const path = location.slice(directory.length + 1).normalize('NFC')
    if (!path.startsWith('.site-files/')) texts[path] = asText(await readFile(location))
  }
  return texts
}

const readSite = async ({ files }: SiteClient, folder: string): Promise<Texts> => {
  const texts: Record<string, string> = {}
  for await (const { path } of files.listAll(folder)) {
    const bytes = await (await files.read(`${folder}/${path}`)).arrayBuffer()
    texts[path] = asText(Buffer.from(bytes))
  }
  return texts
}

/** A folder of a site. All paths are relative to it. */
const createSite = (client: SiteClient, folder: string) => {
  const { files } = client
  const start =
    (direction: typeof push | typeof pull) =>
    async (directory: string, options: Partial<SyncOptions> = {}) => {
      const events: SyncEvent[] = []
      const end = await direction({ client, folder, directory, ...options, onEvent: (event) => events.push(event) })
      return { ...end, events }
    }
  const put = (path: string, content: Content, options?: PutOptions) => files.put(`${folder}/${path}`, content, options)
  return {
    push: start(push),
    pull: start(pull),
    put,
    remove: (path: string) => files.remove(`${folder}/${path}`),
    stat: (path: string) => files.stat(`${folder}/${path}`),
    texts: () => readSite(client, folder),
    async store(texts: Texts): Promise<void> {
      for (const [path, text] of Object.entries(texts)) await put(path, text)
    },
    withFiles: (replaced: Partial<Files>): SiteClient => ({ ...client, files: { ...files, ...replaced } }),
    withPut: (replaced: (options?: PutOptions) => PutOptions): SiteClient => ({
      ...client,
      files: { ...files, put: (path, content, own) => files.put(path, content, { ...own, ...replaced(own) }) },
    }),
  }
}

export const pathsOf = (events: readonly SyncEvent[], kind: SyncEvent['event']): readonly string[] =>
  events.flatMap((event) => (event.event === kind && 'path' in event ? [event.path] : [])).sort()

/** Tests of the client. Each test has its own folder on the shared site, and empty local folders. */
export const test = base
  .extend('service', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const directory = makeDirectory()
    const service = await hostHere(directory)
    onCleanup(async () => {
      await service.stop()
      removeDirectory(directory)
    })
    return service
  })
  .extend('client', { scope: 'worker' }, async ({ service }) =>
    connect({ url: service.baseUrl, token: service.token, patience: { delay: 1 } }),
  )
  .extend('folder', async ({}) => `test ${randomUUID()}`)
  .extend('proxied', ({ service, onTestFinished }) => async (decide: Decide): Promise<string> => {
    const { url, stop } = await startProxy(service.baseUrl, decide)
    onTestFinished(stop)
    return url
  })
  .extend('listen', () => (listener: RequestListener): Promise<string> => {
    // Otherwise Node would cut the connection of a request that was answered before its end.
    return listenInTest(createServer({ keepAliveTimeout: 0 }, listener))
  })
  .extend('site', async ({ client, folder }) => createSite(client, folder))
  .extend('makeDirectory', ({ onTestFinished }) => async (texts: Texts = {}): Promise<string> => {
    const directory = makeDirectory()
    onTestFinished(() => removeDirectory(directory))
    await writeTree(directory, texts)
    return directory
  })
