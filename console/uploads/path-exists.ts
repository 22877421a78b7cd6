import type { SiteClient } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'

export const pathExists = async ({ files }: SiteClient, path: string): Promise<boolean> => {
  try {
    await files.stat(path)
    return true
  } catch (error) {
    if (hasStatus(error, 404)) return false
    throw error
  }
}
