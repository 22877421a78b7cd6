import * as z from 'zod/mini'
import { storedId } from '../ids.ts'
import type { RemovalTask } from '../storage/folder-removals.ts'
import { toStoragePath } from '../storage/path.ts'

const message = z.object({ site: z.string(), path: z.string(), id: z.string() })

/** Reads what the queue of removals delivers. Throws an Error when it is none of the service's messages. */
export const readRemovalTask = (body: string): RemovalTask => {
  const { site, path, id } = z.parse(message, JSON.parse(body))
  return { site: storedId(site), path: toStoragePath(path), id }
}
