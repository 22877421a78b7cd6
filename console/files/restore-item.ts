import { ServiceError, type SiteClient } from '../../client/src/index.ts'
import { texts } from '../texts/texts.ts'
import { pathExists } from '../uploads/path-exists.ts'

const nameTaken = 104022

/**
 * The sentence of the service about a taken name is for programs. This sentence is for people. Without a removed item, an
 * earlier attempt has restored the item, and its answer was lost.
 */
export const restoreItem = async (client: SiteClient, path: string): Promise<void> => {
  try {
    await client.files.restore(path)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.status === 404 && (await pathExists(client, path))) return
    if (error.code !== nameTaken) throw error
    throw new ServiceError({ status: error.status, code: nameTaken, message: texts.value.files.placeTaken })
  }
}
