import { isStronglyIn, isWeaklyIn, readTags, type TagList, typedVersion } from '../core/entity-tags.ts'
import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'
import { isPage } from './file-kind.ts'
import type { Expected, ListedObject, ObjectStore } from './object-store.ts'
import { fileKey, folderKey, root, type StoragePath } from './path.ts'

export interface Conditions {
  readonly match?: TagList | undefined
  readonly noneMatch?: TagList | undefined
}

const parseTags = (header: string | undefined, name: string): TagList | undefined => {
  if (header === undefined) return undefined
  const tags = readTags(header)
  if (tags !== undefined) return tags
  throw new ServiceError('storageRefused', {
    message: `${name} is not well-formed: it is *, or up to 100 tags in quotes with commas between.`,
  })
}

export const parseConditions = (ifMatch: string | undefined, ifNoneMatch: string | undefined): Conditions => ({
  match: parseTags(ifMatch, 'If-Match'),
  noneMatch: parseTags(ifNoneMatch, 'If-None-Match'),
})

export const isUnconditional = ({ match, noneMatch }: Conditions): boolean =>
  match === undefined && noneMatch === undefined

const namesStates = ({ match = '*', noneMatch = '*' }: Conditions): boolean => match !== '*' || noneMatch !== '*'

type Named = Pick<ListedObject, 'version'> | 'folder' | undefined

/** S-64. Errors: conditionFailed. */
export const requireConditions = ({ match, noneMatch }: Conditions, named: Named): void => {
  const isThere = named !== undefined
  // Whatever its bytes were called when they were read, they are the same.
  const has = (tags: Exclude<TagList, '*'>, isIn: typeof isStronglyIn) =>
    named !== undefined &&
    named !== 'folder' &&
    [named.version, typedVersion(named.version)].some((version) => isIn(tags, version))
  if (match !== undefined && !(match === '*' ? isThere : has(match, isStronglyIn))) {
    throw new ServiceError('conditionFailed', {
      message: 'If-Match does not hold: what is there now is not what it names. Read it again, then repeat.',
    })
  }
  if (noneMatch !== undefined && (noneMatch === '*' ? isThere : has(noneMatch, isWeaklyIn))) {
    throw new ServiceError('conditionFailed', {
      message: 'If-None-Match does not hold: what it says must not be there is there. Read it, then decide.',
    })
  }
}

export type Source = Pick<ListedObject, 'key' | 'version'> | 'folder' | undefined

/** Returns the state that must not be replaced before the move or copy. Errors: conditionFailed. */
export const expectSource = (conditions: Conditions = {}, source: Source): readonly Expected[] => {
  if (isUnconditional(conditions)) return []
  requireConditions(conditions, source)
  return source === undefined || source === 'folder' ? [] : [{ key: source.key, version: source.version }]
}

/** Returns the states for which the conditions hold. Errors: conditionFailed. */
export const checkConditions = async (
  files: ObjectStore,
  site: SiteId,
  path: StoragePath,
  asDraft: boolean,
  conditions: Conditions = {},
): Promise<readonly Expected[]> => {
  if (isUnconditional(conditions)) return []
  const { match, noneMatch } = conditions
  const areas = asDraft && isPage(path) ? (['draft', 'live'] as const) : (['live'] as const)
  const keys = path === root ? [] : areas.map((area) => fileKey(area, site, path))
  const [found, isFolder] = await Promise.all([
    Promise.all(keys.map((key) => files.find(key))),
    // To a tag, a folder is nothing.
    match === '*' || noneMatch === '*' ? files.exists(folderKey('live', site, path)) : false,
  ])
  const index = found.findIndex((info) => info !== undefined)
  requireConditions(conditions, found[index] ?? (isFolder ? 'folder' : undefined))
  const looked = index < 0 ? keys : keys.slice(0, index + 1)
  return looked.map((key, at) => ({ key, version: found[at]?.version }))
}

export const createUploadConditions = (files: ObjectStore, site: SiteId, conditions: Conditions = {}) => {
  const check = (path: StoragePath) => checkConditions(files, site, path, false, conditions)
  const seen = new Map<StoragePath, readonly Expected[]>()
  let refusal: ServiceError | undefined

  const checkOnce = async (path: StoragePath): Promise<readonly Expected[]> => {
    const found = seen.get(path) ?? (await check(path))
    seen.set(path, found)
    return found
  }

  return {
    /**
     * False when a tag does not match: the content is skipped, because a second file would be the first error. Errors:
     * conditionFailed, storageRefused (a tag, and several files).
     */
    async admits(path: StoragePath, index: number): Promise<boolean> {
      if (index > 0 && namesStates(conditions)) {
        throw new ServiceError('storageRefused', {
          message: 'A tag in If-Match or If-None-Match is of one file, and the request brings several.',
        })
      }
      try {
        await checkOnce(path)
        return true
      } catch (error) {
        if (!namesStates(conditions) || !(error instanceof ServiceError && error.status === 412)) throw error
        refusal = error
        return false
      }
    },

    async expectedAt(paths: readonly StoragePath[]): Promise<readonly Expected[]> {
      if (refusal) throw refusal
      return (await Promise.all(paths.map(checkOnce))).flat()
    },

    checkAgain: async (paths: readonly StoragePath[]): Promise<readonly Expected[]> =>
      (await Promise.all(paths.map(check))).flat(),
  }
}
