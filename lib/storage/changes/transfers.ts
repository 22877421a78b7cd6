import { type ErrorName, ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { longestPath } from '../../core/rights.ts'
import type { Deadline } from '../../core/time.ts'
import { contentTypeOf, isPage, isTemplate, templateFault } from '../file-kind.ts'
import { listAll } from '../many-objects.ts'
import type { Change, ListedObject, ObjectInfo, ObjectStore, Transfer } from '../object-store.ts'
import { type Edition, editions, fileKey, folderKey, nameOf, pathIn, root, type StoragePath } from '../path.ts'
import { storageRefused } from '../refusals.ts'

export interface Relocation {
  readonly kind: Transfer['kind']
  readonly site: SiteId
  readonly path: StoragePath
  readonly target: StoragePath
}

// All files of a folder become visible at the new path together. The limit bounds the time and the memory for this.
const mostObjects = 10_000

const tooLargeMessages: Readonly<Record<Transfer['kind'], string>> = {
  move:
    'The folder is too large to rename or move at once. Upload the folder under the new name, then delete the old ' +
    'folder.',
  copy: 'The folder is too large to copy at once. Copy its files and folders one by one.',
}

export const tooMuch = (kind: Transfer['kind']): ServiceError => storageRefused(tooLargeMessages[kind])

/** Only pages have drafts. Other drafts count as the live file, unless there is a live file (S-20, S-111). */
const transfersOfFile = async (store: ObjectStore, { kind, site, path, target }: Relocation) => {
  const [live, draft] = await Promise.all([
    store.find(fileKey('live', site, path)),
    kind === 'move' && isPage(path) ? store.find(fileKey('draft', site, path)) : undefined,
  ])
  const to = (edition: Edition, from: ObjectInfo): Change => {
    const contentType = contentTypeOf(nameOf(target), from.contentType)
    return { kind, from, key: fileKey(edition, site, target), contentType }
  }
  const changes = live ? [to('live', live)] : []
  if (draft && isPage(target)) changes.push(to('draft', draft))
  else if (draft) changes.push(live ? { kind: 'remove', key: draft.key } : to('live', draft))
  return changes
}

const transfersOfFolder = async (store: ObjectStore, { kind, site, path, target }: Relocation) => {
  const found: ListedObject[] = []
  for (const edition of kind === 'copy' ? (['live'] as const) : editions) {
    for await (const objects of listAll(store, folderKey(edition, site, path))) {
      found.push(...objects)
      if (found.length > mostObjects) throw tooMuch(kind)
    }
  }
  const keys = new Set(found.map(({ key }) => key))
  return found.map((from): Change => {
    const isDraft = from.key.startsWith(folderKey('draft', site, path))
    const name = from.key.slice(folderKey(isDraft ? 'draft' : 'live', site, path).length)
    const hasDraft = isDraft && !isTemplate(`${target}/${name}`)
    if (isDraft && !hasDraft && keys.has(folderKey('live', site, path) + name)) return { kind: 'remove', key: from.key }
    return { kind, from, key: folderKey(hasDraft ? 'draft' : 'live', site, target) + name }
  })
}

const isTransfer = (change: Change): change is Transfer => change.kind === 'move' || change.kind === 'copy'

/**
 * `changes` is empty when neither the file nor the folder exists. `source` is the live file, or the folder. `states` has
 * only the live file. Errors: storageRefused.
 */
export const findTransfers = async (store: ObjectStore, relocation: Relocation) => {
  const ofFile = await transfersOfFile(store, relocation)
  if (ofFile.length > 0) {
    const key = fileKey('live', relocation.site, relocation.path)
    const source = ofFile.filter(isTransfer).find(({ from }) => from.key === key)?.from
    return { isFile: true, changes: ofFile, source, states: source ? [source] : [] }
  }
  const changes = await transfersOfFolder(store, relocation)
  return { isFile: false, changes, source: changes.length > 0 ? ('folder' as const) : undefined, states: [] }
}

export const hasLongPath = (changes: readonly Change[]): boolean =>
  changes.some((change) => isTransfer(change) && Buffer.byteLength(pathIn(change.key)) > longestPath)

const readsInFlight = 16

export const templatesIn = (site: SiteId, changes: readonly Change[]): readonly Transfer[] => {
  const prefix = folderKey('live', site, root)
  const isNew = ({ key, from }: Transfer) =>
    key.startsWith(prefix) && isTemplate(key.slice(prefix.length)) && !isTemplate(from.key.slice(prefix.length))
  return changes.filter(isTransfer).filter(isNew)
}

const faultOf = async (store: ObjectStore, key: string): Promise<ErrorName | undefined> => {
  const object = await store.read(key, ({ size }) => ({ first: 0, last: size - 1 }), 'bytes=0-')
  if (!object) return undefined
  const { body = [] } = object
  return templateFault(body instanceof Uint8Array ? [body] : body)
}

/** Checks the files that will be templates (S-26). If a file changes meanwhile, it is not moved. */
export const checkTemplates = (
  store: ObjectStore,
  kind: Transfer['kind'],
  transfers: readonly Transfer[],
  deadline: Deadline,
): Promise<void> =>
  inParallel(transfers, readsInFlight, async ({ from, key }) => {
    if (deadline.isOver()) throw tooMuch(kind)
    const fault = await faultOf(store, from.key)
    if (fault) throw new ServiceError(fault, { message: `${pathIn(key)}: ${new ServiceError(fault).message}` })
  })
