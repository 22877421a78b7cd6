import { ServiceError, type SiteClient } from '../../client/src/index.ts'

export const pathExists = async ({ files }: SiteClient, path: string): Promise<boolean> => {
  try {
    await files.stat(path)
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return false
    throw error
  }
}
