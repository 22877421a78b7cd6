import { Readable } from 'node:stream'
import type { SiteId } from '../../lib/core/ids.ts'
import type {
  ObjectInfo,
  ObjectStore,
  PlaceConditions,
  PlaceOutcome,
  ReadObject,
} from '../../lib/storage/object-store.ts'
import { entry } from './history.ts'

export const nowhere: PlaceConditions = { absent: [], unlocked: { site: 1001 as SiteId, folders: [] } }

export const stageObject = (store: Pick<ObjectStore, 'stage'>, key: string | undefined, content: string | Buffer) =>
  store.stage(Readable.from([Buffer.from(content)]), { key, contentType: 'text/plain' })

/** Waits for the history entry, and returns the rest of the outcome. */
export const recorded = async (placing: Promise<PlaceOutcome>): Promise<PlaceOutcome> => {
  const result = await placing
  if (result.outcome !== 'placed') return result
  await result.recorded
  return { outcome: 'placed' }
}

/** Stores an object without checks. Its default content is its key. */
export const putObject = async (
  store: Pick<ObjectStore, 'stage' | 'place'>,
  key: string,
  content?: string | Buffer,
) => {
  const staged = await stageObject(store, key, content ?? key)
  return recorded(store.place([{ kind: 'put', key, staged }], nowhere, entry))
}

export const infoOf = async (store: Pick<ObjectStore, 'find'>, key: string): Promise<ObjectInfo> => {
  const info = await store.find(key)
  if (!info) throw new Error(`There is no ${key}`)
  return info
}

export const bytesOf = async ({ body }: ReadObject): Promise<Buffer> => {
  if (body === undefined) return Buffer.alloc(0)
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.concat(await body.toArray())
}

export const bytesIn = async (store: Pick<ObjectStore, 'read'>, key: string): Promise<Buffer | undefined> => {
  const object = await store.read(key, ({ size }) => ({ first: 0, last: size - 1 }))
  return object && bytesOf(object)
}

export const contentIn = async (store: Pick<ObjectStore, 'read'>, key: string): Promise<string | undefined> =>
  (await bytesIn(store, key))?.toString()
