import { join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import { changesOf, type SourceChange } from './changes.ts'

/** The type checker, which reads the changed source of one file. */
export const openTypes = (root: string) => {
  let source: string | undefined
  let path = ''
  const api = new API({ cwd: root, fs: { readFile: (name) => (name === path ? source : undefined) } })
  const project = join(root, 'tsconfig.json')
  let snapshot = api.updateSnapshot({ openProjects: [project] })
  const program = () => {
    const found = snapshot.getProject(project)?.program
    if (!found) throw new Error(`There is no ${project}`)
    return found
  }
  return {
    changesOf(file: string): readonly SourceChange[] {
      const parsed = program().getSourceFile(join(root, file))
      return parsed ? changesOf(file, parsed) : []
    },

    /** True if the changed file has a type error. An unused name is none. */
    refuse(change: SourceChange): boolean {
      const before = path
      path = join(root, change.file)
      source = change.source
      snapshot.dispose()
      snapshot = api.updateSnapshot({ fileChanges: { changed: [before, path].filter(Boolean) } })
      const faults = [...program().getSyntacticDiagnostics(path), ...program().getSemanticDiagnostics(path)]
      return faults.some(({ reportsUnnecessary }) => !reportsUnnecessary)
    },

    close: () => api.close(),
  }
}
