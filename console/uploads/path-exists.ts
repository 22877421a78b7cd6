import type { SiteClient } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import { nameOf } from './paths.ts'

/** A read ignores case (S-4). With `isExact`, only a name in the same case counts. */
export const pathExists = async ({ files }: SiteClient, path: string, isExact = false): Promise<boolean> => {
  try {
    const { name } = await files.stat(path)
    return !isExact || name === nameOf(path).normalize('NFC')
  } catch (error) {
    if (hasStatus(error, 404)) return false
    throw error
  }
}
