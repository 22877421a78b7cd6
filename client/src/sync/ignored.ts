import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import ignore from 'ignore'
import { LocalRefusal } from './local-refusal.ts'

/** The folder that holds what was seen; it is never sent. */
export const stateFolder = '.site-files'

const builtIn = ['.git', 'node_modules', '.DS_Store', 'Thumbs.db', '._*', stateFolder]

/**
 * Says of a path below the folder whether it is none of a push's or a pull's business, on either side. That of a folder
 * ends with a slash.
 */
export type Ignored = (path: string) => boolean

/** The path is in a state folder, here or below. Many disks ignore case. */
export const isOfState: Ignored = (path) => path.toLowerCase().split('/').includes(stateFolder)

// Empty if there is no such file. A pipe or a device might never end, so it is refused.
const readOwn = async (path: string): Promise<string> => {
  try {
    if ((await stat(path)).isFile()) return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
  throw new LocalRefusal(`"${path}" is no file. Remove it, or list in it, line by line, what is not to be sent.`)
}

/** The built-in patterns and those of `.siteignore`, in the syntax of `.gitignore`. */
export const readIgnored = async (directory: string): Promise<Ignored> => {
  const named = ignore({ ignorecase: false }).add(await readOwn(join(directory, '.siteignore')))
  // What is built in is apart, so that no line of the file brings the state of this program, or of git, into the site;
  // in any case, as a disk may not tell them apart.
  const always = ignore({ ignorecase: true }).add(builtIn)
  return (path) => named.ignores(path) || always.ignores(path)
}
