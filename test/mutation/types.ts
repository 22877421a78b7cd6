import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import type { Change } from './changes.ts'

/** Returns a check whether a change causes a type error in its file. An unused name is none. */
export const openTypes = (root: string) => {
  const changed = new Map<string, string>()
  const api = new API({ cwd: root, fs: { readFile: (name) => changed.get(name) } })
  const project = join(root, 'tsconfig.json')
  return ({ file, source }: Change): boolean => {
    const path = join(root, file)
    const restored = [...changed.keys()]
    changed.clear()
    changed.set(path, source)
    using snapshot = api.updateSnapshot({ openProjects: [project], fileChanges: { changed: [...restored, path] } })
    const program = snapshot.getProject(project)?.program
    if (!program) throw new Error(`There is no ${project}`)
    const faults = [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)]
    return faults.some(({ reportsUnnecessary }) => !reportsUnnecessary)
  }
}
