import { notify, notifyFailure } from '../parts/toasts.tsx'
import { goTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import type { Outcome } from '../uploads/act.ts'
import { join, nameOf } from '../uploads/paths.ts'
import type { FilesStore, Relocation } from './files-store.ts'

/** Says what has failed of an action on many, and offers to do that part again. */
const tellFailures = ({ failed }: Outcome, repeat: (paths: readonly string[]) => void): void => {
  const [first] = failed
  if (!first) return
  const paths = failed.map(({ path }) => path)
  notifyFailure(texts.value.files.notDone(nameOf(first.path), failed.length - 1), first.error, () => repeat(paths))
}

/** The details panel follows its file to a new name, or closes: the file is not at the paths any more. */
const leadPanel = (store: FilesStore, paths: readonly string[], name = ''): void => {
  const { file } = route.value.query
  if (file !== undefined && paths.includes(join(store.folder.path.value, file)))
    goTo({ query: { file: name } }, { replace: true })
}

/** Brings back what was removed, and says so. */
const restoreAndTell = async (store: FilesStore, paths: readonly string[]): Promise<void> => {
  const outcome = await store.restore(paths)
  const [first] = outcome.done
  if (first !== undefined)
    notify(
      texts.value.files.restored(outcome.done.length === 1 ? nameOf(first) : texts.value.items(outcome.done.length)),
    )
  tellFailures(outcome, (left) => restoreAndTell(store, left))
}

/** Removes, says so, and offers to take it back. */
export const removeAndTell = async (store: FilesStore, paths: readonly string[]): Promise<void> => {
  const outcome = await store.remove(paths)
  leadPanel(store, outcome.done)
  if (outcome.done.length > 0) {
    notify(texts.value.files.removed(outcome.done.length), {
      label: texts.value.undo,
      run: () => restoreAndTell(store, outcome.done),
    })
  }
  tellFailures(outcome, (left) => removeAndTell(store, left))
}

/** Moves or copies into a folder, and says so. */
export const relocateAndTell = async (
  store: FilesStore,
  how: Relocation,
  paths: readonly string[],
  folder: string,
): Promise<void> => {
  const t = texts.value.files
  const outcome = await store.relocate(how, paths, folder)
  if (how === 'move') leadPanel(store, outcome.done)
  if (outcome.done.length > 0) notify(how === 'move' ? t.moved(outcome.done.length) : t.copied(outcome.done.length))
  tellFailures(outcome, (left) => relocateAndTell(store, how, left, folder))
}

/** Gives a file or folder another name, and says so. */
export const renameAndTell = async (store: FilesStore, path: string, name: string): Promise<void> => {
  await store.rename(path, name)
  leadPanel(store, [path], name)
  notify(texts.value.files.renamed(name))
}
