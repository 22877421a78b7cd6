import { foldersOf } from './plan.ts'
import type { Writing } from './write.ts'

/**
 * Finds the obstacles that a run removes first: a file at the path of a new folder, and the files of a folder at the
 * path of a new file. `folders` contains these folders, the deepest first. The run removes each folder after its files.
 */
export const findObstacles = (
  steps: readonly Writing[],
): { readonly removals: ReadonlySet<Writing>; readonly folders: readonly string[] } => {
  const created = new Set(steps.flatMap(({ action, path }) => (action === 'create' ? [path] : [])))
  const needed = new Set([...created].flatMap(foldersOf))
  const removals = new Set<Writing>()
  const folders = new Set<string>()
  for (const step of steps) {
    if (step.action !== 'remove') continue
    const around = foldersOf(step.path)
    const place = around.findIndex((folder) => created.has(folder))
    if (place >= 0 || needed.has(step.path)) removals.add(step)
    for (const folder of around.slice(0, place + 1)) folders.add(folder)
  }
  return { removals, folders: [...folders].sort((one, other) => other.length - one.length) }
}
