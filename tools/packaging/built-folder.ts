import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const scratch = join(import.meta.dirname, '..', '..', '.local')

const hasCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(Object(error).code)

/**
 * Puts a folder in the place of another one, which is moved below `gone`, and of whatever is put there in the very
 * moment in between.
 */
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
 * Makes a folder anew, such as `dist`: what `build` has put into an empty one takes its place as a whole. So whoever
 * reads from it meanwhile finds the old one or the new one, and several may build at once, as tests do that pack and
 * serve. Errors: those of `build`; then nothing has changed.
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
