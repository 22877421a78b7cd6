import { basename, dirname } from 'node:path'
import type { Content } from './contents.ts'
import type { Outage } from './outage.ts'

export interface Folder {
  readonly kind: 'folder'
  /** The names of files and folders that running processes see. */
  readonly names: Map<string, Node>
}

export type Node = Content | Folder

export const createFolder = (): Folder => ({ kind: 'folder', names: new Map() })

interface Part {
  readonly folder: Folder
  readonly name: string
  readonly node: Node | undefined
  isFlushed: boolean
}

/** One call, which may change two names. Each name is on the disk after a flush of its folder. */
interface Change {
  readonly index: number
  readonly parts: readonly Part[]
}

/** A path and its new file. Undefined if the path is removed. */
type Named = readonly [path: string, node: Node | undefined]

/** The names below a folder. At the beginning the folder is empty and on the disk. */
export const createNames = (root: string) => {
  const top = createFolder()
  const paths = new Map<Node, string>([[top, root]])
  const changes: Change[] = []
  /** On a journalled file system: the position up to which all changes are on the disk. */
  let journalled = -1

  const folderOf = (path: string): Folder => {
    const parent = dirname(path)
    const found = parent === root ? top : folderOf(parent).names.get(basename(parent))
    if (found?.kind === 'folder') return found
    throw new Error(`The log does not say how the folder ${parent} was made`)
  }

  const changePart = ([path, node]: Named): Part => {
    const [folder, name] = [folderOf(path), basename(path)]
    if (node) {
      folder.names.set(name, node)
      paths.set(node, path)
    } else folder.names.delete(name)
    return { folder, name, node, isFlushed: false }
  }

  const isKept = (index: number, end: number, { mode, fate, random }: Outage): boolean => {
    if (fate === 'kept' || (mode === 'journalled' && index <= journalled)) return true
    return fate === 'mixed' && (mode === 'strict' ? random.below(2) === 0 : index <= end)
  }

  return {
    top,
    pathOf: (node: Node): string => paths.get(node) ?? '',
    nodeAt: (path: string): Node | undefined => folderOf(path).names.get(basename(path)),

    change(index: number, ...named: readonly Named[]): void {
      changes.push({ index, parts: named.map(changePart) })
    },

    /** When a journalled file system flushes a file, it also flushes its name and all earlier changes of names. */
    flush(node: Node, begun: number): void {
      if (node.kind === 'file') journalled = Math.max(journalled, node.index)
      for (const { index, parts } of changes) {
        for (const part of parts) {
          if (part.folder !== node || index >= begun) continue
          part.isFlushed = true
          journalled = Math.max(journalled, index)
        }
      }
    },

    /** The names that an outage at this position leaves in each folder. */
    after(position: number, outage: Outage): ReadonlyMap<Folder, ReadonlyMap<string, Node>> {
      const names = new Map<Folder, Map<string, Node>>()
      const end = journalled + outage.random.below(position - journalled)
      for (const { index, parts } of changes) {
        const all = isKept(index, end, outage)
        for (const { folder, name, node } of parts.filter(({ isFlushed }) => all || isFlushed)) {
          const own = names.get(folder) ?? new Map<string, Node>()
          names.set(folder, own)
          if (node) own.set(name, node)
          else own.delete(name)
        }
      }
      return names
    },
  }
}
