import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ignore from 'ignore'

/** The folder that holds what was seen; it is never sent. */
export const stateFolder = '.site-files'

const builtIn = ['.git', 'node_modules', '.DS_Store', 'Thumbs.db', '._*', stateFolder]

/** Says of a path below the folder whether it is none of a push's or a pull's business, on either side. That of a folder ends with a slash. */
export type Ignored = (path: string) => boolean

/** Whether a path is, or lies in, the folder that holds what was seen. */
export const isOfState: Ignored = (path) => path.startsWith(`${stateFolder}/`)

/** What is built in, and what `.siteignore` in the folder names, in the syntax of `.gitignore`. */
export const readIgnored = async (directory: string): Promise<Ignored> => {
  const rules = ignore({ ignorecase: false })
  const path = join(directory, '.siteignore')
  const own = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    // Of a folder, Node does not say which one.
    throw Object.assign(error, { path })
  })
  // What is built in comes last, so that no line of the file brings the state of this program, or of git, into the site.
  rules.add(own).add(builtIn)
  return (path) => rules.ignores(path)
}
