import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Content, contentAfter, createContent, flushContent } from './contents.ts'
import { createFolder, createNames, type Folder, type Node } from './names.ts'
import type { Outage } from './outage.ts'
import type { Entry } from './record.ts'

/** Flushes that the disk ignores. They imitate a planted bug: a service that does not flush. */
export type Ignored = (path: string, kind: Node['kind']) => boolean

export const isAboutNames = ({ kind }: Entry): boolean => 'omrlu'.includes(kind)

/** Memory that processes share. SQLite rebuilds it, so an outage may leave any bytes in it. */
const isShared = (name: string): boolean => name.endsWith('-shm')
const anything = Buffer.alloc(32_768, 'anything')

const buildFolders = (
  top: Folder,
  target: string,
  names: ReadonlyMap<Folder, ReadonlyMap<string, Node>>,
  outage: Outage,
): void => {
  const made = new Map<Node, string>()
  const build = (folder: Folder, path: string) => {
    mkdirSync(path, { mode: 0o700 })
    for (const [name, node] of names.get(folder) ?? []) {
      const own = join(path, name)
      const other = made.get(node)
      made.set(node, own)
      if (node.kind === 'folder') build(node, own)
      else if (other !== undefined) linkSync(other, own)
      else writeFileSync(own, isShared(name) ? anything : contentAfter(node, outage), { mode: 0o600 })
    }
  }
  build(top, target)
}

/** `root` is the path of the recorded folder, which is empty and on the disk when the log begins. */
export const createReplay = (entries: readonly Entry[], root: string, isIgnored: Ignored = () => false) => {
  const names = createNames(root)
  /** By inode. The kernel reuses inodes of removed files, so this has only the newest file of each inode. */
  const nodes = new Map<number, Node>()
  const begunFlushes = new Map<number, number>()
  let position = 0

  const create = (file: number, path: string, node: Node) => {
    nodes.set(file, node)
    names.change(position, [path, node])
  }

  const contentOf = (file: number): Content => {
    const node = nodes.get(file)
    if (node?.kind === 'file') return node
    throw new Error(`Record ${position} writes to the file ${file}, but the log does not say how that file was made`)
  }

  const flush = (node: Node, begun: number) => {
    if (isIgnored(names.pathOf(node), node.kind)) return
    names.flush(node, begun)
    if (node.kind === 'file') flushContent(node, begun)
  }

  const write = (file: number, at: number, bytes: Buffer | undefined) =>
    void contentOf(file).pending.push({ index: position, at, bytes })

  /** The action for each kind of record; see `recorder.c`. */
  const take: Readonly<Record<string, (entry: Entry, paths: readonly [from: string, to: string]) => void>> = {
    o: ({ file }, [path]) => create(file, path, createContent(position)),
    m: ({ file }, [path]) => create(file, path, createFolder()),
    r: (_, [from, to]) => names.change(position, [from, undefined], [to, names.nodeAt(from)]),
    l: (_, [from, to]) => names.change(position, [to, names.nodeAt(from)]),
    u: (_, [path]) => names.change(position, [path, undefined]),
    w: ({ file, at, bytes }) => write(file, at, bytes),
    t: ({ file, at }) => write(file, at, undefined),
    b: ({ at }) => begunFlushes.set(at, position),
    f: ({ file, at }) => flush(nodes.get(file) ?? names.top, begunFlushes.get(at) ?? 0),
  }

  return {
    /** Applies the records up to this position, which must not be smaller than the previous position. */
    advance(until: number): void {
      for (; position < until; position += 1) {
        const entry = entries[position]
        const [from = '', to = ''] = entry && isAboutNames(entry) ? entry.bytes.toString().split('\n') : []
        if (entry) take[entry.kind]?.(entry, [from, to])
      }
    },
    /** Builds the folder as an outage at this position may leave it. */
    build: (target: string, outage: Outage): void =>
      buildFolders(names.top, target, names.after(position, outage), outage),
  }
}
