import { notify, notifyFailure } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import type { Outcome } from '../uploads/act.ts'
import { nameOf } from '../uploads/paths.ts'
import type { FilesStore, Relocation } from './files-store.ts'

/** Says what has failed of an action on many, and offers to do that part again. */
const tellFailures = ({ failed }: Outcome, repeat: (paths: readonly string[]) => void): void => {
  const [first] = failed
  if (!first) return
  const paths = failed.map(({ path }) => path)
  notifyFailure(texts.value.files.notDone(nameOf(first.path), failed.length - 1), first.error, () => repeat(paths))
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
  if (outcome.done.length > 0) notify(how === 'move' ? t.moved(outcome.done.length) : t.copied(outcome.done.length))
  tellFailures(outcome, (left) => relocateAndTell(store, how, left, folder))
}
