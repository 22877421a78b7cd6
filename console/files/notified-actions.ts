import { attemptOrNotify, notify, notifyFailure } from '../parts/toasts.tsx'
import { goTo, route } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import type { MayContinue, Outcome } from '../uploads/for-each-path.ts'
import { join, nameOf, parentOf } from '../uploads/paths.ts'
import type { FilesStore, Relocation } from './files-store.ts'

export const notifyFailures = (
  { failed }: Pick<Outcome, 'failed'>,
  repeat?: (paths: readonly string[]) => void,
): void => {
  const [first] = failed
  if (!first) return
  const paths = failed.map(({ path }) => path)
  const text = texts.value.files.notDone(nameOf(first.path), failed.length - 1)
  notifyFailure(text, first.error, repeat && (() => repeat(paths)))
}

/** The name of a single item, the number of items, or how many of all items were done. */
const itemsOf = (done: readonly string[], all = done): string => {
  if (done.length < all.length) return texts.value.part(done.length, all.length)
  return done.length === 1 ? nameOf(done[0] ?? '') : texts.value.items(done.length)
}

/** The details panel follows a renamed file, or closes. */
const updateDetailsPanel = (store: FilesStore, paths: readonly string[], name = ''): void => {
  const { file } = route.value.query
  if (file !== undefined && paths.includes(join(store.folder.path.value, file)))
    goTo({ query: { file: name } }, { replace: true })
}

export const restoreAndNotify = async (restore: FilesStore['restore'], paths: readonly string[]): Promise<void> => {
  const outcome = await restore(paths)
  if (outcome.done.length > 0) notify(texts.value.files.restored(itemsOf(outcome.done)))
  notifyFailures(outcome, (left) => restoreAndNotify(restore, left))
}

export const removeAndNotify = async (
  store: FilesStore,
  paths: readonly string[],
  mayContinue?: MayContinue,
): Promise<void> => {
  const outcome = await store.remove(paths, mayContinue)
  updateDetailsPanel(store, outcome.done)
  if (outcome.done.length > 0) {
    notify(texts.value.files.removed(itemsOf(outcome.done, paths)), {
      label: texts.value.undo,
      run: () => restoreAndNotify(store.restore, outcome.done),
    })
  }
  notifyFailures(outcome, (left) => removeAndNotify(store, left))
}

export const relocateAndNotify = async (
  store: FilesStore,
  how: Relocation,
  paths: readonly string[],
  folder: string,
  mayContinue?: MayContinue,
): Promise<void> => {
  const t = texts.value.files
  const outcome = await store.relocate(how, paths, folder, mayContinue)
  if (how === 'move') updateDetailsPanel(store, outcome.done)
  const [first] = outcome.done
  if (first !== undefined) {
    const back = () =>
      relocateAndNotify(
        store,
        'move',
        outcome.done.map((path) => join(folder, nameOf(path))),
        parentOf(first),
      )
    const [items, target] = [itemsOf(outcome.done, paths), folder === '' ? t.root : nameOf(folder)]
    if (how === 'move') notify(t.moved(items, target), { label: texts.value.undo, run: back })
    else notify(t.copied(items, target))
  }
  notifyFailures(outcome, (left) => relocateAndNotify(store, how, left, folder))
}

export const renameAndNotify = async (store: FilesStore, path: string, name: string): Promise<void> => {
  await store.rename(path, name)
  updateDetailsPanel(store, [path], name)
  const undo = () =>
    attemptOrNotify(
      () => renameAndNotify(store, join(parentOf(path), name), nameOf(path)),
      texts.value.files.notDone(name, 0),
    )
  notify(texts.value.files.renamed(nameOf(path), name), { label: texts.value.undo, run: undo })
}
