import { foldersOf } from './plan.ts'
import type { Writing } from './write.ts'

/**
 * The obstacles to remove first: files in place of folders, and files in folders that will become files. `folders` are
 * the folders that are then empty and are obstacles themselves, the deepest first.
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
