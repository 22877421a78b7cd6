import { createHash, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect, type SiteClient } from '../../../client/src/index.ts'
import type { EndEvent, SyncEvent } from '../../../client/src/sync/events.ts'
import type { pull, push, SyncOptions } from '../../../client/src/sync/index.ts'
import { test as base } from '../../support/test.ts'

/** Files by path, as text. Bytes count as Latin-1; long ones are shown as a digest. */
export type Texts = Readonly<Record<string, string>>

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

/** The files below a folder of the site. */
export const readSite = async ({ files }: SiteClient, folder: string): Promise<Texts> => {
  const texts: Record<string, string> = {}
  for await (const { path } of files.listAll(folder)) {
    const bytes = await (await files.read(`${folder}/${path}`)).arrayBuffer()
    texts[path] = asText(Buffer.from(bytes))
  }
  return texts
}

export interface Reported {
  readonly end: EndEvent
  readonly events: readonly SyncEvent[]
}

/** Pushes or pulls, and returns all events. */
export const reported = async (
  direction: typeof push | typeof pull,
  options: Omit<SyncOptions, 'onEvent'>,
): Promise<Reported> => {
  const events: SyncEvent[] = []
  const end = await direction({ ...options, onEvent: (event) => events.push(event) })
  return { end, events }
}

/** The paths of the events of one kind. */
export const pathsOf = (events: readonly SyncEvent[], kind: SyncEvent['event']): readonly string[] =>
  events.flatMap((event) => (event.event === kind && 'path' in event ? [event.path] : [])).sort()

/** Tests of the client. Each has a site folder and empty local folders of its own; the site is shared. */
export const test = base
  .extend('client', { scope: 'file' }, async ({ service }) =>
    connect({ url: service.baseUrl, token: service.token, patience: { delay: 1 } }),
  )
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  .extend('folder', async ({}) => `test ${randomUUID()}`)
  .extend('store', async ({ client, folder }) => {
    return async (texts: Texts): Promise<void> => {
      for (const [path, text] of Object.entries(texts)) await client.files.put(`${folder}/${path}`, text)
    }
  })
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern what a fixture needs
  .extend('makeDirectory', async ({}, { onCleanup }) => {
    const made: string[] = []
    onCleanup(async () => {
      for (const each of made) await rm(each, { recursive: true, force: true })
    })
    return async (texts: Texts = {}): Promise<string> => {
      const directory = await mkdtemp(join(tmpdir(), 'site-files-'))
      made.push(directory)
      await writeTree(directory, texts)
      return directory
    }
  })
