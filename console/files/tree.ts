import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { FolderContent, SiteClient } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import { forEachPath } from '../uploads/for-each-path.ts'
import { join, nameOf, parentOf } from '../uploads/paths.ts'
import { collator } from './arrange.ts'

export interface TreeRow {
  readonly path: string
  readonly name: string
  readonly level: number
  readonly isOpen: boolean
  /** False if the folder is known to have no subfolders. */
  readonly mayOpen: boolean
}

interface KnownContent {
  readonly count: number
  /** The time of the newest change of an entry in the folder. */
  readonly changed: string | undefined
}

const contentIn = (entries: readonly FolderContent[]): KnownContent => ({
  count: entries.length,
  changed: entries
    .flatMap(({ lastModified }) => lastModified ?? [])
    .toSorted()
    .at(-1),
})

/** The tree of folders. It reads a folder when the user opens it. */
export interface Tree {
  readonly rows: ReadonlySignal<readonly TreeRow[]>
  /** Undefined if the folder was not read since the last change. */
  contentOf(path: string): KnownContent | undefined
  forgetContents(): void
  /** Uses entries that another view has read. */
  learn(path: string, entries: readonly FolderContent[]): void
  /** Rejects if the folder cannot be read. */
  toggle(path: string): Promise<void>
  reveal(path: string): Promise<void>
  refresh(): Promise<void>
}

export const createTree = (client: () => SiteClient): Tree => {
  const folders = signal<ReadonlyMap<string, readonly string[]>>(new Map())
  const open = signal<ReadonlySet<string>>(new Set(['']))
  const contents = signal<ReadonlyMap<string, KnownContent>>(new Map())

  const rowsBelow = (path: string, level: number): TreeRow[] => {
    const names = folders.value.get(path)
    const isOpen = open.value.has(path)
    const own = { path, name: nameOf(path), level, isOpen, mayOpen: names === undefined || names.length > 0 }
    return isOpen ? [own, ...(names ?? []).flatMap((name) => rowsBelow(join(path, name), level + 1))] : [own]
  }

  const learn = (path: string, entries: readonly FolderContent[]) => {
    contents.value = new Map(contents.value).set(path, contentIn(entries))
    const names = entries.filter(({ type }) => type === 'folder').map(({ name }) => name)
    names.sort(collator.compare)
    const before = folders.value.get(path)
    if (before && before.length === names.length && before.every((name, index) => name === names[index])) return
    folders.value = new Map(folders.value).set(path, names)
  }

  const read = async (path: string) => {
    learn(path, await Array.fromAsync(client().files.list(path)))
  }

  const show = async (path: string) => {
    if (!folders.value.has(path)) await read(path)
    open.value = new Set(open.value).add(path)
  }

  const close = (path: string) => {
    open.value = open.value.difference(new Set([path]))
  }

  const forget = (path: string) => {
    folders.value = new Map([...folders.value].filter(([known]) => known !== path))
    close(path)
  }

  return {
    rows: computed(() => rowsBelow('', 1)),
    contentOf: (path) => contents.value.get(path),
    forgetContents() {
      contents.value = new Map()
    },
    learn,
    async toggle(path) {
      if (!open.value.has(path)) return show(path)
      close(path)
    },
    async reveal(path) {
      for (let place = path; place !== ''; place = parentOf(place)) await show(parentOf(place))
    },
    async refresh() {
      // A closed folder is read again when the user opens it.
      folders.value = new Map([...folders.value].filter(([path]) => open.value.has(path)))
      const { failed } = await forEachPath([...folders.value.keys()], read)
      for (const { path, error } of failed) if (hasStatus(error, 404)) forget(path)
    },
  }
}
