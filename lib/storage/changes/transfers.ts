import { type ErrorName, ServiceError } from '../../core/errors.ts'
import type { SiteId } from '../../core/ids.ts'
import { inParallel } from '../../core/in-parallel.ts'
import { contentTypeOf, isPage, isTemplate } from '../file-kind.ts'
import { type Change, listAll, type ObjectStore, type Transfer } from '../object-store.ts'
import { type Area, fileKey, folderKey, longestPath, nameOf, pathIn, root, type StoragePath } from '../path.ts'
import { templateFault } from '../template.ts'

export interface Relocation {
  readonly kind: Transfer['kind']
  readonly site: SiteId
  readonly path: StoragePath
  readonly target: StoragePath
}

// All of a folder becomes visible in the new place at once. The limit bounds time and memory.
const mostObjects = 10_000

const tooMuchMessages: Readonly<Record<Transfer['kind'], string>> = {
  move: 'The folder is too large to rename or move at once. Upload it under its new name, then delete this one.',
  copy: 'This is too large to copy at once. Copy its files and folders one by one.',
}

export const tooMuch = (kind: Transfer['kind']): ServiceError =>
  new ServiceError('storageRefused', { message: tooMuchMessages[kind] })

const areasOf = (kind: Transfer['kind']): readonly Area[] => (kind === 'copy' ? ['live'] : ['live', 'draft'])

export const transfersOfFile = async (
  store: ObjectStore,
  { kind, site, path, target }: Relocation,
): Promise<readonly Change[]> => {
  const changes = await Promise.all(
    areasOf(kind)
      .filter((area) => area === 'live' || isPage(path))
      .map(async (area): Promise<Change | undefined> => {
        const info = await store.find(fileKey(area, site, path))
        if (!info) return undefined
        // Only pages have drafts.
        if (area === 'draft' && !isPage(target)) return { kind: 'remove', key: info.key }
        const contentType = contentTypeOf(nameOf(target), info.contentType)
        return { kind, from: info, key: fileKey(area, site, target), contentType }
      }),
  )
  return changes.filter((change) => change !== undefined)
}

/** Empty when the folder does not exist. Errors: storageRefused. */
export const transfersOfFolder = async (
  store: ObjectStore,
  { kind, site, path, target }: Relocation,
): Promise<readonly Change[]> => {
  const changes: Change[] = []
  for (const area of areasOf(kind)) {
    const prefix = folderKey(area, site, path)
    for await (const objects of listAll(store, prefix)) {
      for (const object of objects) {
        const name = object.key.slice(prefix.length)
        // A template has no draft.
        if (area === 'draft' && isTemplate(`${target}/${name}`)) changes.push({ kind: 'remove', key: object.key })
        else changes.push({ kind, from: object, key: `${folderKey(area, site, target)}${name}` })
      }
      if (changes.length > mostObjects) throw tooMuch(kind)
    }
  }
  return changes
}

export const isTransfer = (change: Change): change is Transfer => change.kind === 'move' || change.kind === 'copy'

export const hasLongPath = (changes: readonly Change[]): boolean =>
  changes.some((change) => isTransfer(change) && Buffer.byteLength(pathIn(change.key)) > longestPath)

const readsInFlight = 16

export const templatesAmong = (site: SiteId, changes: readonly Change[]): readonly Transfer[] => {
  const prefix = folderKey('live', site, root)
  return changes
    .filter(isTransfer)
    .filter(
      ({ key, from }) =>
        key.startsWith(prefix) && isTemplate(key.slice(prefix.length)) && !isTemplate(from.key.slice(prefix.length)),
    )
}

const faultOf = async (store: ObjectStore, key: string): Promise<ErrorName | undefined> => {
  const object = await store.read(key, ({ size }) => ({ first: 0, last: size - 1 }), 'bytes=0-')
  if (!object) return undefined
  const { body = [] } = object
  return templateFault(body instanceof Uint8Array ? [body] : body)
}

/** Checks files that become templates (S-26). A file that changes meanwhile is not moved. */
export const refusalOfTemplates = async (
  store: ObjectStore,
  kind: Transfer['kind'],
  transfers: readonly Transfer[],
  isLate: () => boolean,
): Promise<ServiceError | undefined> => {
  let refusal: ServiceError | undefined
  await inParallel(transfers, readsInFlight, async ({ from, key }) => {
    if (refusal) return
    if (isLate()) {
      refusal = tooMuch(kind)
      return
    }
    const fault = await faultOf(store, from.key)
    if (fault) refusal ??= new ServiceError(fault, { message: `${pathIn(key)}: ${new ServiceError(fault).message}` })
  })
  return refusal
}
