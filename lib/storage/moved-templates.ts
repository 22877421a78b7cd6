import pMap from 'p-map'
import { type ErrorName, ServiceError } from '../errors.ts'
import type { SiteId } from '../ids.ts'
import { folderKey } from './keys.ts'
import type { Change, ObjectStore } from './object-store.ts'
import { isTemplate } from './page.ts'
import { root } from './path.ts'
import { tooMuchToRename } from './rename-limits.ts'
import { createTemplateCheck } from './template.ts'

type Move = Extract<Change, { kind: 'move' }>

/** How many files are read at once. */
const readsInFlight = 16

/** The moves that make a template of what was none. */
export const templatesAmong = (site: SiteId, changes: readonly Change[]): readonly Move[] => {
  const prefix = folderKey('live', site, root)
  return changes.filter(
    (change): change is Move =>
      change.kind === 'move' &&
      change.key.startsWith(prefix) &&
      isTemplate(change.key.slice(prefix.length)) &&
      !isTemplate(change.from.key.slice(prefix.length)),
  )
}

const faultOf = async (store: ObjectStore, key: string): Promise<ErrorName | undefined> => {
  const object = await store.read(key, ({ size }) => ({ first: 0, last: size - 1 }))
  if (!object) return undefined
  const check = createTemplateCheck()
  const { body = [] } = object
  for await (const chunk of body instanceof Uint8Array ? [body] : body) check.write(chunk)
  return check.end()
}

/**
 * What becomes a template by its new name must hold what a template holds, as when it is uploaded (decisions.md, section 5). What is
 * replaced or removed meanwhile is not moved, since it is no longer in the version that was listed. Errors: storageRefused (the time is up),
 * those of a template.
 */
export const checkTemplates = async (
  store: ObjectStore,
  site: SiteId,
  moves: readonly Move[],
  isTimeUp: () => boolean,
): Promise<void> => {
  const check = async ({ from, key }: Move) => {
    if (isTimeUp()) throw tooMuchToRename()
    const fault = await faultOf(store, from.key)
    if (!fault) return
    const path = key.slice(folderKey('live', site, root).length)
    throw new ServiceError(fault, { message: `${path}: ${new ServiceError(fault).message}` })
  }
  await pMap(moves, check, { concurrency: readsInFlight })
}
