import { ServiceError } from '../core/errors.ts'
import { isStronglyIn, isWeaklyIn, matches, readTags, type TagList } from '../core/headers.ts'
import type { SiteId } from '../core/ids.ts'
import { isPage } from './file-kind.ts'
import type { Expected, ListedObject, ObjectStore } from './object-store.ts'
import { fileKey, folderKey, root, type StoragePath } from './path.ts'
import { storageRefused } from './refusals.ts'

export interface Conditions {
  readonly match?: TagList | undefined
  readonly noneMatch?: TagList | undefined
}

const parseTags = (header: string | undefined, name: string): TagList | undefined => {
  if (header === undefined) return undefined
  const tags = readTags(header)
  if (tags !== undefined) return tags
  throw storageRefused(`${name} is malformed. Send *, or up to 100 tags in quotes, separated by commas.`)
}

export const isUnconditional = ({ match, noneMatch }: Conditions): boolean =>
  match === undefined && noneMatch === undefined

/** With a condition, the path is taken as written (S-7). Errors: storageRefused. */
export const readConditions = (ifMatch: string | undefined, ifNoneMatch: string | undefined) => {
  const conditions = { match: parseTags(ifMatch, 'If-Match'), noneMatch: parseTags(ifNoneMatch, 'If-None-Match') }
  return { conditions, isCaseSensitive: !isUnconditional(conditions) }
}

export const namesStates = ({ match = '*', noneMatch = '*' }: Conditions): boolean => match !== '*' || noneMatch !== '*'

const refusal = (message: string) => new ServiceError('conditionFailed', { message })

/** S-64: conditionFailed when the conditions do not match the state of the path. No tag matches a folder. */
export const refusalOf = (
  { match, noneMatch }: Conditions,
  named: Pick<ListedObject, 'version'> | 'folder' | undefined,
): ServiceError | undefined => {
  const has = (tags: TagList, compare: typeof isStronglyIn) =>
    tags === '*' ? named !== undefined : named && named !== 'folder' && matches(named.version, tags, compare)
  if (match !== undefined && !has(match, isStronglyIn)) {
    return refusal('If-Match failed: the file or folder has changed, or does not exist. Read it again, then repeat.')
  }
  if (noneMatch !== undefined && has(noneMatch, isWeaklyIn)) {
    return refusal('If-None-Match failed: the file or folder already exists in that state. Read it, then decide.')
  }
  return undefined
}

export interface CheckedConditions {
  readonly matching: readonly Expected[]
  readonly refusal?: ServiceError | undefined
}

/** A folder has no tag, so only `*` matches it. It exists if anything is below its path. */
export const checkFolder = async (files: ObjectStore, site: SiteId, path: StoragePath, conditions: Conditions) => {
  if (isUnconditional(conditions)) return { matching: [] }
  const key = folderKey('live', site, path)
  const [folder, file, isThere] = await Promise.all([
    files.find(key),
    files.find(fileKey('live', site, path)),
    files.exists(key),
  ])
  const refusal = refusalOf(conditions, file ?? (isThere ? 'folder' : undefined))
  return { matching: [{ key, version: folder?.version }], refusal }
}

export const checkConditions = async (
  files: ObjectStore,
  site: SiteId,
  paths: readonly StoragePath[],
  asDraft: boolean,
  conditions: Conditions,
): Promise<CheckedConditions> => {
  if (isUnconditional(conditions)) return { matching: [] }
  const { match, noneMatch } = conditions
  const checkAt = async (path: StoragePath): Promise<CheckedConditions> => {
    const editions = asDraft && isPage(path) ? (['draft', 'live'] as const) : (['live'] as const)
    const keys = path === root ? [] : editions.map((edition) => fileKey(edition, site, path))
    const [found, isFolder] = await Promise.all([
      Promise.all(keys.map((key) => files.find(key))),
      match === '*' || noneMatch === '*' ? files.find(folderKey('live', site, path)) : undefined,
    ])
    const index = found.findIndex((info) => info !== undefined)
    const looked = index < 0 ? keys : keys.slice(0, index + 1)
    return {
      matching: looked.map((key, at) => ({ key, version: found[at]?.version })),
      refusal: refusalOf(conditions, found[index] ?? (isFolder ? 'folder' : undefined)),
    }
  }
  const checked = await Promise.all(paths.map(checkAt))
  return { matching: checked.flatMap(({ matching }) => matching), refusal: checked.find((one) => one.refusal)?.refusal }
}
