import { globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

const scratch = join(import.meta.dirname, '..', '..', '.cache')

const hasCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(Object(error).code)

// Another build may place its folder between the two renames, so this folder is moved away too.
const takePlace = (made: string, folder: string, gone: string): void => {
  for (let attempt = 0; ; attempt++) {
    try {
      renameSync(folder, join(gone, String(attempt)))
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
    try {
      renameSync(made, folder)
      return
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
    }
  }
}

/**
 * Replaces a folder such as `dist` by the output of `build`, in one step. Readers find either the old or the new
 * folder, and several builds may run at once. Errors: those of `build`, after which the old folder is still there.
 */
export const buildFolder = async (folder: string, build: (made: string) => Promise<void>): Promise<void> => {
  mkdirSync(scratch, { recursive: true })
  const room = mkdtempSync(join(scratch, 'build-'))
  const [made, gone] = [join(room, 'made'), join(room, 'gone')]
  try {
    for (const each of [made, gone]) mkdirSync(each)
    await build(made)
    takePlace(made, folder, gone)
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

/** The notices that the licences of bundled packages require. `room` is a folder that can import these packages. */
export const noticesOf = (packages: readonly string[], room: string): string =>
  packages
    .map((name) => {
      const folder = dirname(findPackageJSON(name, join(room, 'package.json')) ?? '')
      const [license = ''] = globSync('LICENSE*', { cwd: folder })
      return `${name}\n\n${readFileSync(join(folder, license), 'utf8')}`
    })
    .join('\n\n')
