import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Change, FolderContent, SiteClient } from '../../client/src/index.ts'
import { nameTakenError } from '../parts/failure.tsx'
import { forEachPath, type MayContinue, type Outcome } from '../uploads/for-each-path.ts'
import { pathExists } from '../uploads/path-exists.ts'
import { join, nameOf, parentOf } from '../uploads/paths.ts'
import { affectsFolder, createFolder, type Folder } from './folder.ts'
import { createNameSearch, type NameSearch } from './name-search.ts'
import { createPreview, type Preview } from './preview.ts'
import { restoreItem } from './restore-item.ts'
import { createTree, type Tree } from './tree.ts'

export type Relocation = 'move' | 'copy'

/** All paths here are full paths. */
type FilesDialog =
  | { readonly kind: 'newFolder'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string }
  | { readonly kind: 'relocate'; readonly how: Relocation; readonly paths: readonly string[] }
  | { readonly kind: 'remove'; readonly paths: readonly string[] }
  | { readonly kind: 'removeDraft'; readonly path: string }
  | { readonly kind: 'zip'; readonly paths: readonly string[] }
  | { readonly kind: 'edit'; readonly path: string }
  | { readonly kind: 'shortcuts' }

export interface FilesStore {
  readonly folder: Folder
  readonly tree: Tree
  readonly preview: Preview
  readonly search: NameSearch
  readonly dialog: Signal<FilesDialog | undefined>
  readonly clipboard: ReadonlySignal<{ readonly how: Relocation; readonly paths: readonly string[] } | undefined>
  chosenPaths(): readonly string[]
  hold(how: Relocation): void
  createFolder(folder: string, name: string): Promise<void>
  /** Rejects if an entry has this name, in any case. */
  refuseTaken(path: string): Promise<void>
  rename(path: string, name: string): Promise<void>
  relocate(how: Relocation, paths: readonly string[], folder: string, mayContinue?: MayContinue): Promise<Outcome>
  remove(paths: readonly string[], mayContinue?: MayContinue): Promise<Outcome>
  restore(paths: readonly string[]): Promise<Outcome>
  follow(changes: readonly Change[]): void
  refresh(): void
}

export const createFilesStore = (client: () => SiteClient): FilesStore => {
  const tree = createTree(client)
  const folder = createFolder({ client, onRead: tree.learn })
  const preview = createPreview({ client })
  const search = createNameSearch(client, () => folder.path.value)
  const dialog = signal<FilesDialog>()
  const clipboard = signal<{ readonly how: Relocation; readonly paths: readonly string[] }>()

  const chosenPaths = () => folder.chosen.value.map(({ name }) => join(folder.path.value, name))

  const refreshAround = () => {
    tree.forgetContents()
    folder.refresh()
    tree.refresh()
  }

  const names = (entries: readonly FolderContent[] | undefined) => new Set((entries ?? []).map(({ name }) => name))

  const each: typeof forEachPath = async (...given) => {
    const outcome = await forEachPath(...given)
    refreshAround()
    return outcome
  }

  const refuseTaken = async (path: string) => {
    if (await pathExists(client(), path)) throw nameTakenError()
  }

  /** Selects an entry under its new name, if its folder is still open. */
  const selectNamed = async (place: string, name: string) => {
    await folder.refresh()
    if (folder.path.value === place) folder.choose(name, 'alone')
  }

  return {
    folder,
    tree,
    preview,
    search,
    dialog,
    clipboard,
    chosenPaths,
    hold(how) {
      const paths = chosenPaths()
      if (paths.length > 0) clipboard.value = { how, paths }
    },
    async createFolder(place, name) {
      const path = join(place, name)
      await refuseTaken(path)
      await client().files.createFolder(path)
      await selectNamed(place, name)
    },
    refuseTaken,
    async rename(path, name) {
      await client().files.move(path, join(parentOf(path), name))
      await selectNamed(parentOf(path), name)
      tree.refresh()
    },
    relocate(how, paths, target, mayContinue) {
      if (how === 'move') clipboard.value = undefined
      return each(paths, (path) => client().files[how](path, join(target, nameOf(path))), mayContinue)
    },
    remove: (paths, mayContinue) => each(paths, (path) => client().files.remove(path), mayContinue),
    restore: (paths) => each(paths, (path) => restoreItem(client(), path)),
    follow(changes) {
      const path = folder.path.value
      if (affectsFolder(changes, path, names(folder.entries.value))) folder.refreshLater()
      if (changes.some(({ type }) => type.startsWith('folder.') || type.startsWith('file.'))) {
        tree.forgetContents()
        if (changes.some(({ type }) => type.startsWith('folder.') || type === 'file.moved' || type === 'file.copied'))
          tree.refresh()
        if (preview.entry.value) preview.refreshLater()
      }
    },
    refresh() {
      refreshAround()
      if (preview.entry.value) preview.refresh()
    },
  }
}
