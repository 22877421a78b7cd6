import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** Also creates missing parents. In folders such as /proc, `mkdir` with `recursive` would never end. */
export const makeFolder = async (path: string, mode?: number): Promise<void> => {
  if (await isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) await makeFolder(parent, mode)
  await mkdir(path, mode).catch(async (error: unknown) => {
    if (!(await isFolder(path))) throw error
  })
}
