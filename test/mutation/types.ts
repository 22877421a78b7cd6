import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import type { Change } from './changes.ts'

/** Returns a check whether a change causes a type error in its file. An unused name is none. */
export const openTypes = (root: string) => {
  let changed = { path: '', source: '' }
  const api = new API({ cwd: root, fs: { readFile: (name) => (name === changed.path ? changed.source : undefined) } })
  const project = join(root, 'tsconfig.json')
  return ({ file, source }: Change): boolean => {
    const restored = changed.path
    changed = { path: join(root, file), source }
    using snapshot = api.updateSnapshot({ openProjects: [project], fileChanges: { changed: [restored, changed.path] } })
    const program = snapshot.getProject(project)?.program
    if (!program) throw new Error(`There is no ${project}`)
    const faults = [...program.getSyntacticDiagnostics(changed.path), ...program.getSemanticDiagnostics(changed.path)]
    return faults.some(({ reportsUnnecessary }) => !reportsUnnecessary)
  }
}
