import { notify, notifyFailure } from '../parts/toasts.tsx'
import { goTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import type { Outcome } from '../uploads/for-each-path.ts'
import { join, nameOf } from '../uploads/paths.ts'
import type { FilesStore, Relocation } from './files-store.ts'

const notifyFailures = ({ failed }: Outcome, repeat: (paths: readonly string[]) => void): void => {
  const [first] = failed
  if (!first) return
  const paths = failed.map(({ path }) => path)
  notifyFailure(texts.value.files.notDone(nameOf(first.path), failed.length - 1), first.error, () => repeat(paths))
}

/** The details panel follows a renamed file, or closes. */
const updateDetailsPanel = (store: FilesStore, paths: readonly string[], name = ''): void => {
  const { file } = route.value.query
  if (file !== undefined && paths.includes(join(store.folder.path.value, file)))
    goTo({ query: { file: name } }, { replace: true })
}

const restoreAndNotify = async (store: FilesStore, paths: readonly string[]): Promise<void> => {
  const outcome = await store.restore(paths)
  const [first] = outcome.done
  if (first !== undefined)
    notify(
      texts.value.files.restored(outcome.done.length === 1 ? nameOf(first) : texts.value.items(outcome.done.length)),
    )
  notifyFailures(outcome, (left) => restoreAndNotify(store, left))
}

export const removeAndNotify = async (store: FilesStore, paths: readonly string[]): Promise<void> => {
  const outcome = await store.remove(paths)
  updateDetailsPanel(store, outcome.done)
  if (outcome.done.length > 0) {
    notify(texts.value.files.removed(outcome.done.length), {
      label: texts.value.undo,
      run: () => restoreAndNotify(store, outcome.done),
    })
  }
  notifyFailures(outcome, (left) => removeAndNotify(store, left))
}

export const relocateAndNotify = async (
  store: FilesStore,
  how: Relocation,
  paths: readonly string[],
  folder: string,
): Promise<void> => {
  const t = texts.value.files
  const outcome = await store.relocate(how, paths, folder)
  if (how === 'move') updateDetailsPanel(store, outcome.done)
  if (outcome.done.length > 0) notify(how === 'move' ? t.moved(outcome.done.length) : t.copied(outcome.done.length))
  notifyFailures(outcome, (left) => relocateAndNotify(store, how, left, folder))
}

export const renameAndNotify = async (store: FilesStore, path: string, name: string): Promise<void> => {
  await store.rename(path, name)
  updateDetailsPanel(store, [path], name)
  notify(texts.value.files.renamed(name))
}
