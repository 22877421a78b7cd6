import { ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import type { StorageStores } from '../changes/change.ts'
import { unknownVersion } from '../changes/restore.ts'
import { isPage } from '../file-kind.ts'
import type { ByteRange, ObjectInfo, ObjectStore, ReadObject } from '../object-store.ts'
import { type Area, fileKey, folderKey, root, type StoragePath } from '../path.ts'
import type { Page } from './listing.ts'

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
    throw new ServiceError('notAFile', { message: 'This path is a folder. Add ?meta to list it.' })
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

/** The live file with its draft and workflow. Undefined when there is none. */
export const describeFile = async ({ files, workflows }: Stores, site: SiteId, path: StoragePath) => {
  if (path === root) return undefined
  const find = (area: Area) => files.find(fileKey(area, site, path))
  const [info, draft, isInWorkflow] = await Promise.all([
    find('live'),
    isPage(path) ? find('draft') : undefined,
    isPage(path) && workflows.isRunning(site, [path]),
  ])
  return info && { info, page: isPage(path) ? { draft, isInWorkflow } : undefined }
}

/** The time when a folder was created, and a page of its contents. Errors: fileUnknown, those of the page. */
export const describeFolder = async <Item>(
  files: ObjectStore,
  site: SiteId,
  path: StoragePath,
  page: Promise<Page<Item>>,
  isFromStart: boolean,
) => {
  const key = folderKey('live', site, path)
  const [marker, listing] = await Promise.all([path === root ? undefined : files.find(key), page])
  const isProven = path === root || marker !== undefined || listing.contents.length > 0
  if (!isProven && (isFromStart || !(await files.exists(key)))) throw new ServiceError('fileUnknown')
  return { created: marker?.modified, listing }
}
