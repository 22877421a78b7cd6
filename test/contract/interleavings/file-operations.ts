import fc from 'fast-check'
import type { Answer } from '../../support/answer.ts'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { isRemoval, isShownBy, lastRemoval, type Operation, type State } from './operations.ts'
import type { ScheduledSite } from './scheduled-stores.ts'

/** The content of files by path, a slash for folders, and `removed ` before the path of a removed file. */
type Files = State
const folder = '/'

const ancestorsOf = (path: string): readonly string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join('/'))

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`)

const withFolders = (files: Files, paths: readonly string[]): Map<string, string> | undefined => {
  if (paths.some((path) => (files.get(path) ?? folder) !== folder)) return undefined
  return new Map([...files, ...paths.map((path) => [path, folder] as const)])
}

const putInto = (files: Files, path: string, content: string): Files | undefined =>
  files.get(path) === folder ? undefined : withFolders(files, ancestorsOf(path))?.set(path, content)

/** The key of a file that a change shows although it will be refused. */
const attempted = (path: string): string => `attempted ${path}`

/** Shows files, with their folders, that may be beside a file or folder that refuses them. */
const showing = (files: Files, shown: Iterable<readonly [path: string, content: string]>): Files => {
  const folders = [...shown].flatMap(([path]) => ancestorsOf(path)).filter((path) => !files.has(path))
  return new Map([
    ...files,
    ...folders.map((path) => [path, folder] as const),
    ...[...shown].map(([path, content]) => [attempted(path), content] as const),
  ])
}

/** A missing folder is created before its file is stored. */
const createFolders = (path: string) => (files: Files) => withFolders(files, ancestorsOf(path))

/** If the folder of a stored file is removed or moved, the file is stored again. */
const storing = (path: string, content: string) => ({
  begin: (files: Files) => [createFolders(path)(files), putInto(files, path, content)],
  attempt: (files: Files) => showing(files, [[path, content]]),
})

const tagOf = async (site: ScheduledSite, path: string) => site.request('GET', `storage/${path}`)

export const put = (path: string, content: string): Operation => ({
  label: `put ${path} ${content}`,
  run: (site) => site.request('PUT', `storage/${path}`, { body: content }),
  ...storing(path, content),
  succeed: (files) => putInto(files, path, content),
  entry: `stored ${path}`,
})

const create = (path: string, content: string): Operation => ({
  label: `create ${path} ${content}`,
  run: (site) => site.request('PUT', `storage/${path}`, { body: content, headers: { 'If-None-Match': '*' } }),
  ...storing(path, content),
  succeed: (files) => (files.has(path) ? undefined : putInto(files, path, content)),
  entry: `stored ${path}`,
})

/** Reads a file, and replaces it if it is still unchanged. */
const replace = (path: string, content: string): Operation => {
  let read: string | undefined
  return {
    label: `replace ${path} ${content}`,
    async run(site) {
      const { status, text, headers } = await tagOf(site, path)
      read = status === 200 ? text : undefined
      const tag = headers['etag'] ?? '"none"'
      return site.request('PUT', `storage/${path}`, { body: content, headers: { 'If-Match': tag } })
    },
    succeed: (files) => (read !== undefined && files.get(path) === read ? putInto(files, path, content) : undefined),
    inRace: (files) =>
      read !== undefined && files.get(`gone ${path}`) === read && !files.has(path)
        ? putInto(files, path, content)
        : undefined,
    entry: `stored ${path}`,
  }
}

const tus = { 'Tus-Resumable': '1.0.0' }

const append = (site: ScheduledSite, at: string, offset: number, body: string) => {
  const headers = { ...tus, 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' }
  return site.request('PATCH', at, { headers, body })
}

const mostTries = 6

/** Appends half of the content and then the rest. Asks for the offset before each further step. */
const appendAll = async (site: ScheduledSite, at: string, content: string): Promise<Answer> => {
  const half = content.length >> 1
  let answer = await append(site, at, 0, content.slice(0, half))
  for (let tries = 0; tries < mostTries && ![400, 404].includes(answer.status); tries += 1) {
    const { status, headers } = await site.request('HEAD', at, { headers: tus })
    if (status !== 200) continue
    const offset = Number(headers['upload-offset'])
    if (offset === content.length) return { ...answer, status: 204 }
    answer = await append(site, at, offset, content.slice(offset, offset < half ? half : undefined))
  }
  return answer.status < 300 ? { ...answer, status: 503 } : answer
}

/** The statuses that mean a success, an unknown outcome, and a refusal. */
const rank = ({ status }: Answer): number => (status < 300 ? 0 : [409, 423, 503].includes(status) ? 1 : 2)

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const nameOf = (path: string): string => path.split('/').at(-1) ?? ''

/** Uploads a file in steps, and continues after lost answers. Two clients continue the same upload at once. */
export const upload = (path: string, content: string): Operation => ({
  label: `upload ${path} ${content}`,
  async run(site) {
    const name = Buffer.from(nameOf(path)).toString('base64')
    const described = { 'Upload-Length': String(content.length), 'Upload-Metadata': `filename ${name}` }
    const created = await site.request('POST', `storage/${folderOf(path)}`, { headers: { ...tus, ...described } })
    const at = created.headers['location']?.replace(/.*\/(?=uploads\/)/, '')
    if (at === undefined) return created
    const answers = await Promise.all([appendAll(site, at, content), appendAll(site, at, content)])
    const [answer = created] = answers.sort((one, other) => rank(one) - rank(other))
    return rank(answer) === 1 ? { ...answer, status: 503 } : answer
  },
  ...storing(path, content),
  succeed: (files) => putInto(files, path, content),
  // An append writes no history entry (H-4).
  entry: `stored ${folderOf(path)}`,
})

const createFolder = (path: string): Operation => ({
  label: `create folder ${path}`,
  run: (site) => site.request('PUT', `storage/${path}`, { query: { type: 'folder' } }),
  succeed: (files) => withFolders(files, [...ancestorsOf(path), path]),
  entry: `created ${path}`,
  mayHaveNoEntry: true,
})

const atOrBelow = (files: Files, path: string): Files => new Map([...files].filter(([one]) => isBelow(one, path)))

let memories = 0

/** The files that an operation has seen in its first step. The kind is the first word of its key. */
const createMemory = (path: string, kind = 'seen') => {
  const name = `${kind} ${memories++}`
  return {
    isIn: (files: Files): boolean => files.has(name),
    keep: (files: Files | undefined) =>
      files && new Map([...files, [name, JSON.stringify([...atOrBelow(files, path)])]]),
    /** Returns the state without this memory. Without a first step, the operation sees the files now. */
    recall(files: Files): { readonly state: Files; readonly seen: Files } {
      const text = files.get(name)
      if (text === undefined) return { state: files, seen: atOrBelow(files, path) }
      return { state: new Map([...files].filter(([key]) => key !== name)), seen: new Map(JSON.parse(text)) }
    },
  }
}

/** Removes the seen files in their present state. A file that was stored later stays, with its folders. */
const withoutSeen = (state: Files, seen: Files, path: string): Map<string, string> => {
  const left = new Map([...state].filter(([one]) => !seen.has(one)))
  const folders = [...atOrBelow(left, path).keys()].flatMap(ancestorsOf)
  const removed = [...state].filter(([one]) => seen.has(one))
  const taken = removed.filter(([, content]) => content !== folder)
  return new Map([
    ...left,
    ...folders.map((one) => [one, folder] as const),
    ...taken.flatMap(([one, content]) => [`removed ${one}`, `gone ${one}`].map((name) => [name, content] as const)),
    ...(removed.length > 0 ? [[lastRemoval(path), JSON.stringify(removed)] as const] : []),
    [`gone ${path}`, taken.find(([one]) => one === path)?.[1] ?? folder],
  ])
}

/**
 * The paths that the running moves and copies create, and those that the moves take away. A move may hide a file for a
 * while, and both may store a file again.
 */
const pathsInTransfers = (files: Files): ReadonlySet<string> =>
  new Set(
    [...files].flatMap(([key, text]) => {
      const [kind, from = '', to = ''] = key.split(' ')
      if (kind !== 'moving' && kind !== 'copying') return []
      const sources = (JSON.parse(text) as Removed).map(([one]) => one)
      return [...(kind === 'moving' ? sources : []), ...sources.map((one) => to + one.slice(from.length))]
    }),
  )

export const remove = (path: string): Operation => {
  const memory = createMemory(path)
  const removed = (files: Files) => {
    const { state, seen } = memory.recall(files)
    return seen.size === 0 ? undefined : withoutSeen(state, seen, path)
  }
  /** The states after a removal that missed some files of running moves and copies. */
  const besideTransfers = (files: Files): readonly Files[] => {
    const { state, seen } = memory.recall(files)
    const moving = pathsInTransfers(state)
    const missed = subsetsOf([...seen.keys()].filter((one) => moving.has(one)))
    const states = missed.slice(1).map((some) => {
      const found = new Map([...seen].filter(([one]) => !some.includes(one)))
      return found.size === 0 ? state : withoutSeen(state, found, path)
    })
    return seen.size === 0 && [...moving].some((one) => isBelow(one, path)) ? [state] : states
  }
  return {
    label: `remove ${path}`,
    run: (site) => site.request('DELETE', `storage/${path}`),
    begin: (files) => (files.has(path) ? [memory.keep(files)] : []),
    succeed: removed,
    // A removed or moved folder in which a new file stays ends with this file.
    mayAlsoCause(files) {
      const after = removed(files)
      const ended = ancestorsOf(path).filter((one) => after?.has(`gone ${one}`) && atOrBelow(after, one).size === 1)
      return [after && new Map([...after].filter(([one]) => !ended.includes(one)))]
    },
    // Two requests that remove the same file may both succeed, because the file is already gone when the second request
    // arrives. A caller that stores a file may create the folder again.
    inRace(files) {
      const { state, seen } = memory.recall(files)
      const isGone = seen.size === 0 && (state.has(`gone ${path}`) || state.has(attempted(path)))
      const again = seen.get(path) === folder ? withoutSeen(state, seen, path).set(path, folder) : undefined
      return [isGone ? state : again, ...besideTransfers(files)]
    },
    entry: `removed ${path}`,
    mayHaveNoEntry: true,
  }
}

const transferred = (source: Files, from: string, to: string) =>
  [...source].map(([one, content]) => [to + one.slice(from.length), content] as const)

const relocated = (files: Files, seen: Files, from: string, to: string) => {
  if (seen.size === 0 || files.has(to) || isBelow(to, from)) return undefined
  const created = withFolders(files, ancestorsOf(to))
  return created && new Map([...created, ...transferred(seen, from, to)])
}

const move = (from: string, to: string): Operation => {
  const memory = createMemory(from, `moving ${from} ${to}`)
  const copied = createMemory(from, `moving ${from} ${to}`)
  const moved = (state: Files, seen: Files) => {
    const present = new Map([...state].filter(([one]) => seen.has(one)))
    const after = relocated(state, present, from, to)
    return after && withoutSeen(after, present, from)
  }
  /** The second of two steps: the files are already at the new path. */
  const takenAway = (files: Files) => {
    const { state, seen } = copied.recall(files)
    const isSame = [...seen].every(([one, content]) => state.get(one) === content)
    return isSame ? withoutSeen(state, seen, from) : undefined
  }
  return {
    label: `move ${from} to ${to}`,
    run: (site) => site.request('PUT', `storage/${from}`, { query: { meta: '' }, body: { path: to } }),
    begin(files) {
      if (!files.has(from)) return []
      return [memory.keep(createFolders(to)(files)), copied.keep(relocated(files, atOrBelow(files, from), from, to))]
    },
    attempt: (files) => memory.keep(showing(files, transferred(atOrBelow(files, from), from, to))) ?? files,
    succeed(files) {
      if (copied.isIn(files)) return takenAway(files)
      const { state, seen } = memory.recall(files)
      return from === to ? (seen.size > 0 ? state : undefined) : moved(state, seen)
    },
    inRace(files) {
      const { state, seen } = memory.recall(files)
      if (from.includes('/') || from === to || copied.isIn(files)) return undefined
      const after = moved(state, seen)
      const folders = [...seen].filter(([one, content]) => content === folder && one !== from)
      // A caller that stores a file may create folders again.
      if (seen.get(from) === folder)
        return subsetsOf(folders).map((some) => after && new Map([...after, [from, folder], ...some]))
      return seen.size > 0 ? undefined : withFolders(state, [...ancestorsOf(to), to])
    },
    entry: from === to ? undefined : `moved ${from}`,
  }
}

/** Reads the source first, and stores the copy later. Meanwhile, other callers may change the source. */
const copy = (from: string, to: string): Operation => {
  const memory = createMemory(from, `copying ${from} ${to}`)
  return {
    label: `copy ${from} to ${to}`,
    run: (site) => site.request('PUT', `storage/${from}`, { query: { meta: '' }, body: { copyTo: to } }),
    begin: (files) => [memory.keep(createFolders(to)(files))],
    attempt: (files) => showing(files, transferred(atOrBelow(files, from), from, to)),
    succeed(files) {
      const { state, seen } = memory.recall(files)
      return relocated(state, seen, from, to)
    },
    entry: `copied ${from}`,
  }
}

type Removed = readonly (readonly [path: string, content: string])[]

/** Shows removed files again. A removed version comes back only once: then no removal hides it any more. */
const uncovering = (files: Files, removed: Removed): Map<string, string> => {
  const hidden = removed.filter(([one, content]) => {
    return !files.has(one) && (content === folder || files.get(`removed ${one}`) === content)
  })
  const isHidden = ([one, content]: Removed[number]) => hidden.some(([key, text]) => key === one && text === content)
  const left = (text: string) => JSON.stringify(JSON.parse(text).filter((one: Removed[number]) => !isHidden(one)))
  const records = [...files].filter(([key]) => isRemoval(key))
  return new Map([...files, ...records.map(([key, text]) => [key, left(text)] as const), ...removed])
}

const restore = (path: string): Operation => ({
  label: `restore ${path}`,
  run: (site) => site.request('POST', `storage/${path}`, { query: { restore: '' }, body: {} }),
  succeed(files) {
    const content = files.get(`removed ${path}`)
    if (content === undefined || files.has(path)) return undefined
    return withFolders(uncovering(files, [[path, content]]), ancestorsOf(path))
  },
  // Two requests that restore the same file may both succeed, because the file already exists when the second request
  // arrives.
  inRace(files) {
    const content = files.get(path)
    return content !== undefined && content === files.get(`removed ${path}`) ? files : undefined
  },
  entry: `restored ${path}`,
})

/** All subsets, with the empty one. */
const subsetsOf = <Value>([first, ...rest]: readonly Value[]): readonly (readonly Value[])[] =>
  first === undefined ? [[]] : subsetsOf(rest).flatMap((some) => [some, [first, ...some]])

/** The states after the restore of a folder. The first has only the files of a removal. */
const restoredFolder = (files: Files, path: string, kept: readonly Removed[]): readonly (Files | undefined)[] => {
  const states = kept.flatMap((removed) => {
    // S3 counts whole seconds, so files that were removed separately may come back, too (H-23).
    const others = [...files].flatMap(([key, content]) => {
      const one = key.replace(/^removed /, '')
      const isOwn = removed.some(([own, text]) => own === one && text === content)
      return one !== key && isBelow(one, path) && !isOwn ? [[one, content] as const] : []
    })
    return subsetsOf(others)
      .map((some) => [...removed, ...some])
      .filter((all) => all.length > 0)
      .map((all) => withFolders(uncovering(files, all), [...all.flatMap(([one]) => ancestorsOf(one)), path]))
  })
  return kept.some((removed) => removed.length > 0) ? states : [undefined, ...states]
}

const restoreFolder = (path: string, replace = false): Operation => {
  const body = replace ? { replace } : {}
  const name = `seen ${memories++}`
  const removals = (files: Files): readonly Removed[] =>
    [...ancestorsOf(path), path].map((one) => {
      const removed: Removed = JSON.parse(files.get(lastRemoval(one)) ?? '[]')
      return removed.filter(([below]) => isBelow(below, path))
    })
  const restored = (files: Files) => {
    if (!replace && atOrBelow(files, path).size > 0) return []
    const state = new Map([...files].filter(([key]) => key !== name))
    const seen: readonly Removed[] = JSON.parse(files.get(name) ?? '[]')
    return [
      ...restoredFolder(state, path, removals(state)),
      ...seen.flatMap((one) => restoredFolder(state, path, [one])),
    ]
  }
  return {
    label: `restore folder ${path} ${JSON.stringify(body)}`,
    run: (site) => site.request('POST', `storage/${path}`, { query: { restore: '' }, body }),
    // Another caller may remove the folder after the restore has read what to restore.
    begin: (files) => (replace ? [new Map([...files, [name, JSON.stringify(removals(files))]])] : []),
    succeed: (files) => restored(files)[0],
    mayAlsoCause: restored,
    entry: `restored ${path}`,
  }
}

const purge = (path: string): Operation => ({
  label: `purge ${path}`,
  run: (site) => site.request('DELETE', `storage/${path}`, { query: { versions: '' } }),
  succeed(files) {
    const isFile = (files.get(path) ?? folder) !== folder
    if (!isFile && !files.has(`removed ${path}`)) return undefined
    return new Map([...files].filter(([one]) => one !== `removed ${path}`))
  },
  entry: `purged ${path}`,
  mayHaveNoEntry: true,
})

export const read = (path: string): Operation => ({
  label: `read ${path}`,
  run: (site) => tagOf(site, path),
  succeed(files, answer) {
    const content = files.get(path)
    return content !== folder && isShownBy(answer, content) ? files : undefined
  },
  inRace: (files, { text }) => (files.get(attempted(path)) === text ? files : undefined),
})

const paths = ['a/x', 'a/y', 'b/x', 'x'] as const
const anyPath = fc.constantFrom(...paths)
const anyFolder = fc.constantFrom('a', 'b')
let contents = 0
/** All contents have the same length, so that a seed cuts uploads at the same place each time. */
export const content = (): string => `content ${String(contents++).padStart(6, '0')}`

type Name = typeof anyPath | typeof anyFolder
const each = (name: Name, make: (path: string) => Operation) => name.map((path) => () => make(path))
const pairs = (name: Name, make: (from: string, to: string) => Operation) =>
  fc.tuple(name, name).map((both) => () => make(...both))
const writing = (write: typeof put) => (path: string) => write(path, content())

const onFile = fc.oneof(
  ...[put, create, upload, replace].map((write) => each(anyPath, writing(write))),
  ...[remove, restore].map((make) => each(anyPath, make)),
  ...[move, copy].map((make) => pairs(anyPath, make)),
  each(anyPath, read),
)
const onFolder = fc.oneof(
  // A file with the name of a folder.
  ...[remove, createFolder, writing(put)].map((make) => each(anyFolder, make)),
  ...[move, copy].map((make) => pairs(anyFolder, make)),
)
export const anyFileOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  { weight: 3, arbitrary: onFile },
  { weight: 1, arbitrary: onFolder },
)

/** Reads all versions of a file. Every change stores different content, so no content may appear twice. */
export const readVersions = (path: string): Operation => ({
  label: `read versions of ${path}`,
  async run(site) {
    const listed = await site.request('GET', `storage/${path}`, { query: { versions: '' } })
    const found: readonly { readonly version: string }[] = listed.status === 200 ? listed.json.versions : []
    const contents = new Set<string>()
    for (const { version } of found) {
      contents.add((await site.request('GET', `storage/${path}`, { query: { versionId: version } })).text)
    }
    return { ...listed, status: 200, text: contents.size === found.length ? 'all differ' : 'two are equal' }
  },
  succeed: (files, { text }) => (text === 'all differ' ? files : undefined),
})

export const list = (folder: string): Operation => ({
  label: `list ${folder}`,
  run: (site) => site.request('GET', `storage/${folder}`, { query: { meta: '' } }),
  succeed(files, { status, json }) {
    if (!files.has(folder) || status !== 200) return files.has(folder) ? files : undefined
    const names = [...files.keys()].filter((path) => path.startsWith(`${folder}/`)).map((path) => nameOf(path))
    const found = json.contents.map(({ name }: { readonly name: string }) => name)
    return JSON.stringify(names.sort()) === JSON.stringify(found.sort()) ? files : undefined
  },
})

/**
 * Stores two files with one form. The names differ from the names of every other form: two forms with the same names
 * could each store only a part of their files.
 */
export const storeBoth = (folder: string, name: string): Operation => {
  const names = [`${name} y`, `${name} z`]
  return {
    label: `store ${name} y and z in ${folder}`,
    run(site) {
      const body = multipart(names.map((one) => ({ name: one })))
      return site.request('POST', `storage/${folder}`, { headers: formHeaders, body })
    },
    succeed: (files) =>
      names.reduce<Files | undefined>((all, one) => all && putInto(all, `${folder}/${one}`, one), files),
    entry: `stored ${folder}`,
  }
}

/** Changes after which a name could be both a file and a folder. */
export const anyNameOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.constant(() => put('a', content())),
  fc.constant(() => put('a/x', content())),
  fc.constant(() => createFolder('a')),
)

/** Changes in a folder while a removal empties it in steps. */
export const anyLargeFolderOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.constant(() => storeBoth('a', content())),
  fc.constant(() => put('a/x', content())),
)

/** Changes below a folder that is removed meanwhile. */
export const anyFolderOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.constantFrom('a/x', 'a/y').map((path) => () => put(path, content())),
  fc.constant(() => remove('a')),
  fc.constant(() => move('a', 'b')),
)

export const anyMove: fc.Arbitrary<() => Operation> = fc.constantFrom(
  () => move('a', 'b'),
  () => move('b', 'a'),
)

/** Changes below a folder that is removed and restored meanwhile, also over its files. */
export const anyRestoredOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.constantFrom('a/x', 'a/f/y').map((path) => () => put(path, content())),
  fc.constantFrom('a', 'a', 'a/x', 'a/f').map((path) => () => remove(path)),
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('a', 'a', 'a/f'), fc.boolean()).map((of) => () => restoreFolder(...of)),
  },
  fc.constantFrom('a/x', 'a/f/y').map((path) => () => restore(path)),
  fc.constant(() => move('a', 'b')),
)

/** Changes of a file while two clients continue an upload of the same file. */
export const anyUploadOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(() => upload('a/x', content())) },
  fc.constant(() => put('a/x', content())),
  fc.constant(() => remove('a/x')),
)

/** Changes of a file while its old versions are purged. */
export const anyPurgedOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.constant(() => put('a/x', content())),
  fc.constant(() => remove('a/x')),
  fc.constant(() => restore('a/x')),
  { weight: 2, arbitrary: fc.constant(() => purge('a/x')) },
)
