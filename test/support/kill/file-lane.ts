import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Machine } from '../../../lib/machine/machine.ts'
import { folderKey, toStoragePath } from '../../../lib/storage/path.ts'
import { formHeaders, multipart } from '../multipart.ts'
import { storage } from '../paths.ts'
import type { Lane, Step } from './lane.ts'

/** The files of a folder: what fills each, by name below the folder, in order of name. */
type Files = Readonly<Record<string, string>>

const site = 1001 as SiteId

/** Small ones are kept otherwise than large ones. In bytes. */
const sizes = { small: 600, large: 20_000 } as const

const fill = (mark: string, size: number): string => mark.padEnd(12, '.').repeat(Math.ceil(size / 12))

/** What fills a file, and how large it is: all that is compared. */
const digestOf = (content: string): string => `${content.slice(0, 12)} x ${content.length}`

const sorted = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const upload = (folder: string, files: Files, count: number): Step<Files> => {
  const below = `batch-${count % 4}`
  const parts = [
    ['one', fill(`u${count}a`, sizes.small)],
    ['two', fill(`u${count}b`, sizes.large)],
    ['three', fill(`u${count}c`, sizes.large)],
  ] as const
  const added = Object.fromEntries(parts.map(([name, content]) => [`${below}/${name}`, digestOf(content)]))
  return {
    name: `upload into ${below}`,
    path: `${storage}/${folder}/${below}`,
    init: {
      method: 'POST',
      headers: formHeaders,
      body: multipart(parts.map(([name, content]) => ({ name, content }))),
    },
    after: sorted({ ...files, ...added }),
  }
}

const put = (folder: string, files: Files, count: number): Step<Files> => {
  const name = `file-${count % 3}`
  const content = fill(`p${count}`, count % 2 === 0 ? sizes.small : sizes.large)
  return {
    name: `put ${name}`,
    path: `${storage}/${folder}/${name}`,
    init: { method: 'PUT', body: content },
    after: sorted({ ...files, [name]: digestOf(content) }),
  }
}

const rename = (folder: string, files: Files, count: number): Step<Files> | undefined => {
  const name = Object.keys(files).find((key) => key.startsWith('file-'))
  if (name === undefined) return undefined
  const to = `renamed-${count}`
  const { [name]: content = '', ...rest } = files
  return {
    name: `rename ${name}`,
    path: `${storage}/${folder}/${name}?meta`,
    init: { method: 'PUT', body: JSON.stringify({ name: to }) },
    after: sorted({ ...rest, [to]: content }),
  }
}

const renameFolder = (folder: string, files: Files, count: number): Step<Files> | undefined => {
  const below = /^(batch-\d+)\//.exec(Object.keys(files).find((key) => key.startsWith('batch-')) ?? '')?.[1]
  if (below === undefined) return undefined
  const to = `moved-${count}`
  const moved = Object.entries(files).map(([name, content]) => [
    name.startsWith(`${below}/`) ? name.replace(below, to) : name,
    content,
  ])
  return {
    name: `rename ${below}`,
    path: `${storage}/${folder}/${below}?meta`,
    init: { method: 'PUT', body: JSON.stringify({ name: to }) },
    after: sorted(Object.fromEntries(moved)),
  }
}

const remove = (folder: string, files: Files): Step<Files> | undefined => {
  const first = Object.keys(files).find((key) => !key.startsWith('file-'))
  if (first === undefined) return undefined
  const [name = first] = first.split('/')
  const rest = Object.entries(files).filter(([key]) => key !== name && !key.startsWith(`${name}/`))
  return {
    name: `remove ${name}`,
    path: `${storage}/${folder}/${name}`,
    init: { method: 'DELETE' },
    after: Object.fromEntries(rest),
  }
}

const contentOf = async (body: Readable | Uint8Array | undefined): Promise<string> => {
  if (body === undefined) return ''
  return body instanceof Readable ? text(body) : Buffer.from(body).toString()
}

const observe = async ({ stores: { files } }: Machine, folder: string): Promise<Files> => {
  const prefix = folderKey('live', site, toStoragePath(folder))
  const { objects } = await files.list({ prefix, folded: false, limit: 1_000 })
  const found: Record<string, string> = {}
  for (const { key, size } of objects.filter((object) => !object.key.endsWith('/'))) {
    const read = await files.read(key, () => ({ first: 0, last: size - 1 }))
    const content = await contentOf(read?.body)
    const mark = content.slice(0, 12)
    // Half of an upload would be cut, or hold the bytes of another one.
    if (content !== mark.repeat(content.length / 12)) throw new Error(`${key} holds bytes of more than one upload`)
    found[key.slice(prefix.length)] = digestOf(content)
  }
  return sorted(found)
}

/** Uploads of several files, replacements, renames of files and of folders, and removals of both. */
export const fileLane = (folder: string): Lane<Files> => ({
  name: folder,
  start: {},
  next(files, count) {
    const choices = [
      () => upload(folder, files, count),
      () => put(folder, files, count),
      () => rename(folder, files, count),
      () => renameFolder(folder, files, count),
      () => put(folder, files, count),
      () => remove(folder, files),
    ]
    const choice = choices[Math.floor(Math.random() * choices.length)]
    return choice?.() ?? put(folder, files, count)
  },
  observe: (machine) => observe(machine, folder),
})
