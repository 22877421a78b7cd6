import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import ignore from 'ignore'
import { systemCodeOf } from './disk-errors.ts'
import { LocalRefusal } from './local-refusal.ts'

/** The folder with the state of earlier runs. It is never sent. Some disks also find it under the name `.ſite-files`. */
export const stateFolder = '.site-files'

const createBuiltIn = () =>
  ignore({ ignorecase: true }).add(['.git', 'node_modules', '.DS_Store', 'Thumbs.db', '._*', stateFolder])

/** True for a path that is ignored on both sides. Paths of folders end with a slash. */
export type Ignored = (path: string) => boolean

export const isBuiltIn: Ignored = (path) => createBuiltIn().ignores(path)

export const isInStateFolder: Ignored = (path) => path.toUpperCase().toLowerCase().split('/').includes(stateFolder)

// In characters. The regular expression of a much longer pattern is too large for Node.
const longestPattern = 4096

const refuseLong = (path: string, patterns: string): string => {
  const line = patterns.split('\n').findIndex(({ length }) => length > longestPattern) + 1
  if (line === 0) return patterns
  throw new LocalRefusal(`Line ${line} of "${path}" has more than ${longestPattern} characters. Shorten it.`)
}

// Empty if the file does not exist. A pipe or a device is refused, because it might never end.
const readPatterns = async (path: string): Promise<string> => {
  try {
    if ((await stat(path)).isFile()) return refuseLong(path, await readFile(path, 'utf8'))
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return ''
    throw error
  }
  throw new LocalRefusal(`"${path}" is not a file. Remove it, or replace it with a file of one pattern per line.`)
}

export const readIgnored = async (directory: string): Promise<Ignored> => {
  const named = ignore({ ignorecase: false }).add(await readPatterns(join(directory, '.siteignore')))
  // No line of `.siteignore` can include the paths of the built-in patterns again. The built-in patterns ignore case,
  // because some disks do.
  const always = createBuiltIn()
  return (path) => isInStateFolder(path) || named.ignores(path) || always.ignores(path)
}
