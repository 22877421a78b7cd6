import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { contentTypeOf, isPage, isTemplate } from './file-kind.ts'
import { type Change, listAll, type ObjectStore, type Transfer } from './object-store.ts'
import { type Area, fileKey, folderKey, longestPath, nameOf, pathIn, type StoragePath } from './path.ts'

export interface Relocation {
  readonly kind: Transfer['kind']
  readonly site: SiteId
  readonly path: StoragePath
  readonly target: StoragePath
}

/**
 * A folder with more than this in it is neither moved nor copied: all of it becomes visible in the new place at once,
 * or nothing does, and nobody waits for that any longer. It is a bound on memory, too.
 */
const mostObjects = 10_000

const tooMuchMessages: Readonly<Record<Transfer['kind'], string>> = {
  move: 'The folder holds too much to be renamed or moved in one go. Upload it under its new name, then delete this one.',
  copy: 'This is too much to be copied in one go. Copy what the folder holds part by part.',
}

export const tooMuch = (kind: Transfer['kind']): ServiceError =>
  new ServiceError('storageRefused', { message: tooMuchMessages[kind] })

/** A copy takes the live files alone (S-58). */
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
        // What is no page has no draft.
        if (area === 'draft' && !isPage(target)) return { kind: 'remove', key: info.key }
        const contentType = contentTypeOf(nameOf(target), info.contentType)
        return { kind, from: info, key: fileKey(area, site, target), contentType }
      }),
  )
  return changes.filter((change) => change !== undefined)
}

/** Without any change, there is no such folder. Errors: storageRefused. */
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

/** A path that grows with its folder's must stay within the bounds, in each area. Errors: urlInvalid. */
export const checkLengths = (changes: readonly Change[]): void => {
  if (changes.some((change) => isTransfer(change) && Buffer.byteLength(pathIn(change.key)) > longestPath)) {
    throw new ServiceError('urlInvalid', {
      message: 'In its new place, the path of something in the folder becomes too long.',
    })
  }
}
