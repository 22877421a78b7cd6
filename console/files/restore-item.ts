import type { SiteClient } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import { pathExists } from '../uploads/path-exists.ts'

/** Without a removed item, an earlier attempt has restored the item, and its answer was lost. */
export const restoreItem = async (client: SiteClient, path: string): Promise<void> => {
  try {
    await client.files.restore(path)
  } catch (error) {
    if (!(hasStatus(error, 404) && (await pathExists(client, path)))) throw error
  }
}
