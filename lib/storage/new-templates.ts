import { type ErrorName, ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { inParallel } from '../core/in-parallel.ts'
import { isTemplate } from './file-kind.ts'
import type { Change, ObjectStore, Transfer } from './object-store.ts'
import { folderKey, root } from './path.ts'
import { templateFault } from './template.ts'
import { isTransfer } from './transfers.ts'

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

/**
 * Checks files that become templates at their new place (S-26). A file that changes meanwhile is not moved: its version
 * is no longer the listed one. Errors: those of a template, and what `refuseLate` throws.
 */
export const checkTemplates = async (
  store: ObjectStore,
  site: SiteId,
  transfers: readonly Transfer[],
  refuseLate: () => void,
): Promise<void> => {
  const check = async ({ from, key }: Transfer) => {
    refuseLate()
    const fault = await faultOf(store, from.key)
    if (!fault) return
    const path = key.slice(folderKey('live', site, root).length)
    throw new ServiceError(fault, { message: `${path}: ${new ServiceError(fault).message}` })
  }
  await inParallel(transfers, readsInFlight, check)
}
