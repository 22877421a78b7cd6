import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from './random.ts'
import type { Entry } from './record.ts'

/** How a file system keeps names that were not flushed: each for itself, or in their order up to some point. */
export const modes = ['strict', 'journalled'] as const
export type Mode = (typeof modes)[number]

/** What becomes of everything that was not flushed: nothing stays, all stays, or chance decides each time. */
export const fates = ['lost', 'kept', 'mixed'] as const
export type Fate = (typeof fates)[number]

export interface Outage {
  readonly mode: Mode
  readonly fate: Fate
  readonly random: Random
}

/** A kind of flushes that the disk ignores: this plants the bug that the service leaves them out. */
export type Ignored = (path: string, kind: 'file' | 'folder') => boolean

interface Write {
  readonly index: number
  readonly at: number
  readonly bytes: Buffer | 'truncation'
}

interface Content {
  readonly kind: 'file'
  readonly createdAt: number
  /** What a flush has taken to the disk, and in order what no flush has. */
  flushed: Buffer
  pending: Write[]
}

interface Folder {
  readonly kind: 'folder'
  readonly createdAt: number
  /** As the processes see it. */
  readonly names: Map<string, Node>
}

type Node = Content | Folder

/** One call may change two names. Each is on the disk when its folder was flushed. */
interface NamePart {
  readonly folder: Folder
  readonly name: string
  readonly node: Node | undefined
  isFlushed: boolean
}

interface NameChange {
  readonly index: number
  readonly parts: readonly NamePart[]
}

const newFolder = (createdAt: number): Folder => ({ kind: 'folder', createdAt, names: new Map() })

/** The same bytes in memory of their own. */
const copyOf = (content: Buffer, size = content.length): Buffer => {
  const copy = Buffer.alloc(size)
  content.copy(copy)
  return copy
}

/** Bytes that nobody has written are zeros. Takes room ahead: the log of the database grows by a little each time. */
const grow = (content: Buffer, size: number): Buffer => {
  if (size <= content.buffer.byteLength) return Buffer.from(content.buffer, 0, size)
  const larger = Buffer.from(new ArrayBuffer(2 * size), 0, size)
  content.copy(larger)
  return larger
}

const resize = (content: Buffer, size: number): Buffer =>
  size > content.length ? grow(content, size) : copyOf(content, size)

const place = (content: Buffer, at: number, bytes: Buffer): Buffer => {
  const whole = at + bytes.length > content.length ? grow(content, at + bytes.length) : content
  bytes.copy(whole, at)
  return whole
}

const apply = (content: Buffer, { at, bytes }: Write): Buffer =>
  bytes === 'truncation' ? resize(content, at) : place(content, at, bytes)

/** Each sector of a write is kept, dropped, or torn: then its first bytes are kept. */
const writeSectors = (content: Buffer, { at, bytes }: Write & { bytes: Buffer }, random: Random, sector: number) => {
  let whole = content
  for (let from = 0; from < bytes.length; ) {
    const end = Math.min((Math.floor((at + from) / sector) + 1) * sector - at, bytes.length)
    const fate = random.below(5)
    const kept = fate < 2 ? end : fate < 4 ? from : from + random.below(end - from)
    if (kept > from) whole = place(whole, at + from, bytes.subarray(from, kept))
    from = end
  }
  return whole
}

const liveSize = ({ flushed, pending }: Content): number =>
  pending.reduce(
    (size, { at, bytes }) => (bytes === 'truncation' ? at : Math.max(size, at + bytes.length)),
    flushed.length,
  )

const contentAfter = (file: Content, { fate, random }: Outage): Buffer => {
  if (fate === 'lost' || file.pending.length === 0) return file.flushed
  let content = copyOf(file.flushed)
  if (fate === 'kept') return file.pending.reduce(apply, content)
  const sector = random.pick([512, 4096])
  for (const write of file.pending) {
    const { bytes } = write
    if (bytes !== 'truncation') content = writeSectors(content, { ...write, bytes }, random, sector)
    else if (random.below(2) === 0) content = apply(content, write)
  }
  // The size may have reached the disk before the bytes.
  const size = liveSize(file)
  return random.below(2) === 0 && size > content.length ? resize(content, size) : content
}

export interface Replay {
  /** Takes in the records up to that position. Positions only grow. */
  advance(position: number): void
  /** Builds what the outage leaves, now. */
  build(target: string, outage: Outage): void
  /** The path of a file or folder as it is named now. */
  pathOf(file: number): string | undefined
}

/** `root` is the path of the recorded folder, which is on the disk, and empty, when the log begins. */
export const createReplay = (entries: readonly Entry[], root: string, isIgnored: Ignored = () => false): Replay => {
  const top = newFolder(-1)
  const nodes = new Map<number, Node>()
  const paths = new Map<Node, string>([[top, root]])
  const changes: NameChange[] = []
  const flushes = new Map<number, number>()
  /** Journalled: changes of names up to this one are on the disk. */
  let journalled = -1
  let position = 0

  const folderAt = (path: string): Folder => {
    if (path === root) return top
    const found = folderAt(dirname(path)).names.get(nameIn(path))
    if (found?.kind !== 'folder') throw new Error(`The log names no folder ${path}`)
    return found
  }
  const nameIn = (path: string) => path.slice(dirname(path).length + 1)
  const nodeAt = (path: string) => folderAt(dirname(path)).names.get(nameIn(path))

  const change = (index: number, ...named: readonly (readonly [path: string, node: Node | undefined])[]) => {
    const parts = named.map(([path, node]) => {
      const [folder, name] = [folderAt(dirname(path)), nameIn(path)]
      if (node) {
        folder.names.set(name, node)
        paths.set(node, path)
      } else folder.names.delete(name)
      return { folder, name, node, isFlushed: false }
    })
    changes.push({ index, parts })
  }

  const create = (index: number, file: number, path: string, node: Node) => {
    nodes.set(file, node)
    change(index, [path, node])
  }

  const nodeOf = (file: number): Node => {
    if (!nodes.has(file) && position === 0) return top
    const node = nodes.get(file)
    if (!node) throw new Error(`The log does not say how the file ${file} was made (record ${position})`)
    return node
  }

  const contentOf = (file: number): Content => {
    const node = nodeOf(file)
    if (node.kind === 'folder') throw new Error(`A folder is written to (record ${position})`)
    return node
  }

  const flush = (node: Node, begun: number) => {
    if (isIgnored(paths.get(node) ?? '', node.kind)) return
    if (node.kind === 'file') {
      const isIn = ({ index }: Write) => index < begun
      node.flushed = node.pending.filter(isIn).reduce(apply, node.flushed)
      node.pending = node.pending.filter((write) => !isIn(write))
      journalled = Math.max(journalled, node.createdAt)
      return
    }
    for (const { index, parts } of changes) {
      for (const part of parts.filter(({ folder }) => folder === node && index < begun)) {
        part.isFlushed = true
        journalled = Math.max(journalled, index)
      }
    }
  }

  const take = ({ kind, file, at, bytes }: Entry, index: number) => {
    const [from = '', to = ''] = kind === 'w' || kind === 'M' ? [] : bytes.toString().split('\n')
    switch (kind) {
      case 'o':
        return create(index, file, from, { kind: 'file', createdAt: index, flushed: Buffer.alloc(0), pending: [] })
      case 'm':
        return create(index, file, from, newFolder(index))
      case 'r':
        return change(index, [from, undefined], [to, nodeAt(from)])
      case 'l':
        return change(index, [to, nodeAt(from)])
      case 'u':
        return change(index, [from, undefined])
      case 'w':
        return void contentOf(file).pending.push({ index, at, bytes })
      case 't':
        return void contentOf(file).pending.push({ index, at, bytes: 'truncation' })
      case 'b':
        return void flushes.set(at, index)
      case 'f':
        return flush(nodes.get(file) ?? top, flushes.get(at) ?? 0)
    }
  }

  /** The names that the outage leaves. */
  const namesAfter = ({ mode, fate, random }: Outage): ReadonlyMap<Folder, ReadonlyMap<string, Node>> => {
    const names = new Map<Folder, Map<string, Node>>()
    const end = journalled + random.below(position - journalled)
    for (const { index, parts } of changes) {
      const byChance = mode === 'strict' ? random.below(2) === 0 : index <= end
      const isKept = fate === 'kept' || (fate === 'mixed' && byChance) || (mode === 'journalled' && index <= journalled)
      for (const { folder, name, node } of parts.filter(({ isFlushed }) => isKept || isFlushed)) {
        const own = names.get(folder) ?? new Map<string, Node>()
        names.set(folder, own)
        if (node) own.set(name, node)
        else own.delete(name)
      }
    }
    return names
  }

  return {
    advance(until) {
      for (; position < until; position += 1) {
        const entry = entries[position]
        if (entry) take(entry, position)
      }
    },
    build(target, outage) {
      const names = namesAfter(outage)
      const made = new Map<Node, string>()
      const buildIn = (folder: Folder, path: string) => {
        mkdirSync(path, { mode: 0o700 })
        for (const [name, node] of names.get(folder) ?? []) {
          const own = join(path, name)
          const earlier = made.get(node)
          made.set(node, own)
          if (node.kind === 'folder') buildIn(node, own)
          else if (earlier !== undefined) linkSync(earlier, own)
          else writeFileSync(own, contentAfter(node, outage), { mode: 0o600 })
        }
      }
      buildIn(top, target)
    },
    pathOf: (file) => paths.get(nodes.get(file) ?? top),
  }
}
