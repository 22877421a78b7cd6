import { type Edition, folderKey, toStoragePath } from '../../lib/storage/path.ts'
import { formHeaders, multipart } from '../support/multipart.ts'
import { bytesIn } from '../support/objects.ts'
import { storage } from '../support/paths.ts'
import {
  digestOf,
  fill,
  type Judged,
  random,
  readDigest,
  recordedLane,
  type Service,
  type Step,
  site,
  stepOf,
} from './lanes.ts'

/** The digests of files by path. */
type Files = Readonly<Record<string, string>>

/** In bytes. Small and large files are stored differently. */
const sizes = { small: 600, large: 20_000 } as const

const isIn = (path: string, name: string): boolean => path === name || path.startsWith(`${name}/`)

const without = (files: Files, name: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !isIn(path, name)))

/** Adds the files below a name again, below another name. */
const withCopies = (files: Files, name: string, to: string): Files => {
  const copied = Object.entries(files).filter(([path]) => isIn(path, name))
  return { ...files, ...Object.fromEntries(copied.map(([path, digest]) => [to + path.slice(name.length), digest])) }
}

const observe = async ({ machine: { stores } }: Judged, folder: string, edition: Edition = 'live'): Promise<Files> => {
  const prefix = folderKey(edition, site, toStoragePath(folder))
  const { objects } = await stores.files.list({ prefix, folded: false, limit: 1_000 })
  const keys = objects.map(({ key }) => key).filter((key) => !key.endsWith('/'))
  const read = async (key: string) => digestOf((await bytesIn(stores.files, key)) ?? Buffer.alloc(0))
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key.slice(prefix.length), await read(key)])))
}

interface Place {
  readonly files: Files
  readonly count: number
  /** A file, or the folder above it. */
  readonly name: string
}

const changesOf = (folder: string) => {
  const step = (name: string, init: RequestInit, after: Files): Step<Files> =>
    stepOf(`${init.method} ${name}`, after, ({ request }) => request(`${storage}/${folder}/${name}`, init))
  const change = (name: string, body: object, after: Files) =>
    step(`${name}?meta`, { method: 'PUT', body: JSON.stringify(body) }, after)
  return {
    /** Stores a file, or the draft of a page, which `key` names in the state. */
    put({ files, count, name }: Place, key = name, query = '') {
      const content = fill(`p${count}`, count % 2 === 0 ? sizes.small : sizes.large)
      const init = { method: 'PUT', body: new Uint8Array(content) }
      return step(name + query, init, { ...files, [key]: digestOf(content) })
    },
    upload({ files, count }: Place) {
      const below = `batch-${count % 4}`
      const parts = [
        { name: 'one', content: fill(`u${count}a`, sizes.small) },
        { name: 'two', content: fill(`u${count}b`, sizes.large) },
        { name: 'three', content: fill(`u${count}c`, sizes.large) },
      ]
      const added = parts.map(({ name, content }) => [`${below}/${name}`, digestOf(content)])
      const init = { method: 'POST', headers: formHeaders, body: new Uint8Array(multipart(parts)) }
      return step(below, init, { ...files, ...Object.fromEntries(added) })
    },
    rename({ files, count, name }: Place, ending = '') {
      const [top = name] = name.split('/')
      const to = `renamed-${count}${ending}`
      return change(top, { name: to }, without(withCopies(files, top, to), top))
    },
    copy({ files, count, name }: Place) {
      const to = `copy-${count}`
      return change(name, { copyTo: `/${folder}/${to}` }, withCopies(files, name, to))
    },
    move({ files, count, name }: Place) {
      const to = `moved-${count}/deep/file`
      return change(name, { path: `/${folder}/${to}` }, without(withCopies(files, name, to), name))
    },
    remove: ({ files, name }: Place, query = '', gone = name) =>
      step(name + query, { method: 'DELETE' }, without(files, gone)),
    restore: ({ files, name }: Place) => step(`${name}?restore`, { method: 'POST', body: '{}' }, files),
  }
}

/** A lane that stores one or several files, and copies, moves, renames, removes and restores files and folders. */
export const fileChanges = (folder: string) => {
  const { put, upload, rename, copy, move, remove, restore } = changesOf(folder)
  const putOne = (place: Place) => put({ ...place, name: `file-${place.count % 3}` })
  const changes = [upload, putOne, putOne, rename, copy, move, remove]
  let removed: Place | undefined
  const next = (files: Files, count: number): Step<Files> => {
    const last = removed
    removed = undefined
    // Half of the removals stay.
    if (last && count % 2 === 0) return restore(last)
    const paths = Object.keys(files)
    const path = paths[count % paths.length]
    const change = path === undefined ? upload : random.pick(changes)
    const [top = ''] = path?.split('/') ?? []
    const place = { files, count, name: path !== undefined && Math.random() < 0.5 ? path : top }
    if (change === remove) removed = place
    return change(place)
  }
  const observed = { start: {}, next, observe: (judged: Judged) => observe(judged, folder) }
  return recordedLane<Files>(observed, ({ subject }) => subject.startsWith(`${folder}/`))
}

/** A lane that stores, publishes, discards, renames, removes and restores a page and its draft. */
export const draftChanges = (folder: string) => {
  const { put, rename, remove, restore } = changesOf(folder)
  const query = '?version=draft'
  const draftOf = (name: string) => `${name}/draft`
  const storeDraft = (place: Place) => put(place, draftOf(place.name), query)
  const publish = ({ files, ...place }: Place) => put({ ...place, files: without(files, draftOf(place.name)) })
  const discard = (place: Place) => remove(place, query, draftOf(place.name))
  const renamePage = (place: Place) => rename(place, '.html')
  let removed: Place | undefined
  const next = (files: Files, count: number): Step<Files> => {
    const last = removed
    removed = undefined
    // Only with a draft: the restore of a page would also restore a draft that was discarded just before (H-20).
    if (last && count % 2 === 0 && draftOf(last.name) in last.files) return restore(last)
    const [name = ''] = Object.keys(files)[0]?.split('/') ?? []
    if (name === '') return storeDraft({ files, count, name: `page-${count}.html` })
    const changes = draftOf(name) in files ? [publish, discard, renamePage, remove] : [storeDraft, renamePage, remove]
    const place = { files, count, name }
    const change = random.pick(changes)
    if (change === remove) removed = place
    return change(place)
  }
  const observeBoth = async (judged: Judged): Promise<Files> => {
    const drafts = Object.entries(await observe(judged, folder, 'draft'))
    const named = drafts.map(([path, digest]) => [`${path}/draft`, digest])
    return { ...(await observe(judged, folder)), ...Object.fromEntries(named) }
  }
  const observed = { start: {}, next, observe: observeBoth }
  return recordedLane<Files>(observed, ({ subject }) => subject.startsWith(`${folder}/`))
}

/** A lane that replaces one file, restores an old version, or purges. The state has its versions, newest first. */
export const versionChanges = (folder: string) => {
  const path = `${storage}/${folder}/page`
  const listVersions = async ({ request }: Service): Promise<readonly string[]> => {
    const { versions = [] } = (await (await request(`${path}?versions`)).json()) as { versions?: { version: string }[] }
    return versions.map(({ version }) => version)
  }
  const next = (state: readonly string[], count: number): Step<readonly string[]> => {
    const oldest = state.at(-1)
    if (oldest !== undefined && count % 4 === 0) {
      return stepOf('put the first version back', [oldest, ...state], async (service) => {
        const body = JSON.stringify({ version: (await listVersions(service)).at(-1), replace: true })
        return service.request(`${path}?restore`, { method: 'POST', body })
      })
    }
    if (state.length > 1 && count % 7 === 6) {
      return stepOf('purge', state.slice(0, 1), ({ request }) => request(`${path}?versions`, { method: 'DELETE' }))
    }
    const body = fill(`${folder}${count}`, count % 2 === 0 ? 900 : 30_000)
    return stepOf(`put version ${count}`, [digestOf(body), ...state], ({ request }) =>
      request(path, { method: 'PUT', body: new Uint8Array(body) }),
    )
  }
  const observe = async (judged: Judged) =>
    Promise.all((await listVersions(judged)).map((version) => readDigest(judged, `${path}?versionId=${version}`)))
  return recordedLane<readonly string[]>({ start: [], next, observe }, ({ subject }) => subject === `${folder}/page`)
}
