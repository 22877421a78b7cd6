import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import type { StorageStores } from '../changes/change.ts'
import { unknownVersion } from '../changes/restore.ts'
import { isPage } from '../file-kind.ts'
import type { ByteRange, ObjectInfo, ObjectStore, ReadObject } from '../object-store.ts'
import { type Area, fileKey, folderKey, root, type StoragePath } from '../path.ts'

type Choose<Choice> = (info: ObjectInfo) => Choice
interface Chosen<Choice> extends ReadObject {
  readonly choice: Choice
}

const readChosen = async <Choice extends { readonly bytes?: ByteRange | undefined }>(
  choose: Choose<Choice>,
  read: (choose: Choose<ByteRange | undefined>) => Promise<ReadObject | undefined>,
): Promise<Chosen<Choice> | undefined> => {
  let choice: Choice | undefined
  const object = await read((info) => {
    choice = choose(info)
    return choice.bytes
  })
  return object && choice && { ...object, choice }
}

/** Errors: fileUnknown, notAFile (a folder). */
export const readFile = async <Choice extends { readonly bytes?: ByteRange | undefined }>(
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  choose: Choose<Choice>,
  expected?: string,
): Promise<Chosen<Choice>> => {
  const read = (area: Area) => readChosen(choose, (decide) => store.read(fileKey(area, site, path), decide, expected))
  const draft = asDraft && isPage(path) ? await read('draft') : undefined
  const object = draft ?? (path === root ? undefined : await read('live'))
  if (object) return object
  if (path === root || (await store.exists(folderKey('live', site, path)))) {
    throw new ServiceError('notAFile', { message: 'This is a folder. Add ?meta to read what it holds.' })
  }
  throw new ServiceError('fileUnknown')
}

export const readVersion = async <Choice extends { readonly bytes?: ByteRange | undefined }>(
  store: ObjectStore,
  site: SiteId,
  path: StoragePath,
  id: string,
  choose: Choose<Choice>,
): Promise<Chosen<Choice>> => {
  const object = await readChosen(choose, (decide) => store.readVersion(fileKey('live', site, path), id, decide))
  if (object) return object
  throw unknownVersion()
}

type Stores = Pick<StorageStores, 'files' | 'workflows'>

export interface PageState {
  readonly draft: ObjectInfo | undefined
  readonly isInWorkflow: boolean
}

export type Described<Listing> =
  | {
      readonly type: 'file'
      readonly info: ObjectInfo
      readonly page: PageState | undefined
    }
  | {
      readonly type: 'folder'
      readonly created: number | undefined
      readonly listing: Listing
    }

interface Listing<Listed> {
  readonly list: () => Promise<Listed>
  readonly isFromStart: boolean
}

const describeFile = async ({ files, workflows }: Stores, site: SiteId, path: StoragePath) => {
  if (path === root) return undefined
  const find = (area: 'live' | 'draft') => files.find(fileKey(area, site, path))
  if (!isPage(path)) return { info: await find('live'), page: undefined }
  const [info, draft, isInWorkflow] = await Promise.all([
    find('live'),
    find('draft'),
    workflows.isRunning(site, [path]),
  ])
  return { info, page: { draft, isInWorkflow } }
}

/** Undefined when nothing exists as written (S-74 to S-77). Errors: those of `list`. */
export const describePath = async <Listed extends { readonly contents: readonly unknown[] }>(
  stores: Stores,
  site: SiteId,
  path: StoragePath,
  { list, isFromStart }: Listing<Listed>,
): Promise<Described<Listed> | undefined> => {
  const file = await describeFile(stores, site, path)
  if (file?.info) return { type: 'file', info: file.info, page: file.page }
  const { files } = stores
  const key = folderKey('live', site, path)
  const [marker, listing] = await Promise.all([path === root ? undefined : files.find(key), list()])
  const isProven = path === root || marker !== undefined || listing.contents.length > 0
  if (!isProven && (isFromStart || !(await files.exists(key)))) return undefined
  return { type: 'folder', created: marker?.modified, listing }
}
