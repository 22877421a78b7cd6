import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { Machine } from '../../../lib/machine/machine.ts'
import { folderKey, toStoragePath } from '../../../lib/storage/path.ts'
import { formHeaders, multipart } from '../multipart.ts'
import { storage } from '../paths.ts'
import type { Lane, Step } from './lane.ts'

type Files = Readonly<Record<string, string>>

const site = 1001 as SiteId

/** In bytes. Small and large files are stored differently. */
const sizes = { small: 600, large: 20_000 } as const

const fill = (mark: string, size: number): string => mark.padEnd(12, '.').repeat(Math.ceil(size / 12))

const digestOf = (content: string): string => `${content.slice(0, 12)} x ${content.length}`

const sorted = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)))

interface Place {
  readonly folder: string
  readonly files: Files
  readonly count: number
}

const step = ({ folder }: Place, change: string, name: string, init: RequestInit, after: Files): Step<Files> => ({
  name: `${change} ${name}`,
  path: `${storage}/${folder}/${name}`,
  init,
  after: sorted(after),
})

const upload = (place: Place): Step<Files> => {
  const { files, count } = place
  const below = `batch-${count % 4}`
  const parts = [
    { name: 'one', content: fill(`u${count}a`, sizes.small) },
    { name: 'two', content: fill(`u${count}b`, sizes.large) },
    { name: 'three', content: fill(`u${count}c`, sizes.large) },
  ]
  const added = Object.fromEntries(parts.map(({ name, content }) => [`${below}/${name}`, digestOf(content)]))
  const init = { method: 'POST', headers: formHeaders, body: multipart(parts) }
  return step(place, 'upload into', below, init, { ...files, ...added })
}

const put = (place: Place): Step<Files> => {
  const { files, count } = place
  const name = `file-${count % 3}`
  const content = fill(`p${count}`, count % 2 === 0 ? sizes.small : sizes.large)
  return step(place, 'put', name, { method: 'PUT', body: content }, { ...files, [name]: digestOf(content) })
}

const isIn = (key: string, name: string): boolean => key === name || key.startsWith(`${name}/`)

/** Renames a file or folder whose name begins with the prefix. If none exists, puts a file. */
const rename = (place: Place, begin: 'file-' | 'batch-', to: string): Step<Files> => {
  const { files } = place
  const [name] =
    Object.keys(files)
      .find((key) => key.startsWith(begin))
      ?.split('/') ?? []
  if (name === undefined) return put(place)
  const renamed = Object.entries(files).map(([key, content]) => [
    isIn(key, name) ? key.replace(name, to) : key,
    content,
  ])
  const init = { method: 'PUT', body: JSON.stringify({ name: to }) }
  const change = step(place, 'rename', name, init, Object.fromEntries(renamed))
  return { ...change, path: `${change.path}?meta` }
}

const remove = (place: Place): Step<Files> => {
  const { files } = place
  const [name] =
    Object.keys(files)
      .find((key) => !key.startsWith('file-'))
      ?.split('/') ?? []
  if (name === undefined) return put(place)
  const rest = Object.entries(files).filter(([key]) => !isIn(key, name))
  return step(place, 'remove', name, { method: 'DELETE' }, Object.fromEntries(rest))
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
    // If an upload were stored in part, its file would be too short, or contain bytes of another upload.
    if (content !== mark.repeat(content.length / 12)) throw new Error(`${key} contains bytes of more than one upload`)
    found[key.slice(prefix.length)] = digestOf(content)
  }
  return sorted(found)
}

/** A lane that uploads several files, replaces files, and renames and removes files and folders. */
export const fileLane = (folder: string): Lane<Files> => ({
  name: folder,
  start: {},
  next(files, count) {
    const place = { folder, files, count }
    const choices = [
      () => upload(place),
      () => put(place),
      () => put(place),
      () => rename(place, 'file-', `renamed-${count}`),
      () => rename(place, 'batch-', `moved-${count}`),
      () => remove(place),
    ]
    return choices[Math.floor(Math.random() * choices.length)]?.() ?? put(place)
  },
  observe: (machine) => observe(machine, folder),
})
