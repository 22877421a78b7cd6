import type { SiteId } from '../core/ids.ts'
import { foldersBelow, includesRight, type Level, type Right, requireRight } from '../core/rights.ts'
import { type StoragePath, segmentsOf } from './path.ts'

/** The files of a site on which a caller has rights of this level. */
export interface Scope {
  readonly site: SiteId
  readonly rights: readonly Right[]
  readonly level: Level
}

const rightOn = ({ level }: Pick<Scope, 'level'>, path: StoragePath): Right => ({ area: 'files', level, folder: path })

export const isInScope = (scope: Omit<Scope, 'site'>, path: StoragePath): boolean =>
  includesRight(scope.rights, rightOn(scope, path))

export const requireScope = (scope: Omit<Scope, 'site'>, path: StoragePath): void =>
  requireRight(scope.rights, rightOn(scope, path))

export const ownFoldersBelow = (scope: Omit<Scope, 'site'>, path: StoragePath): readonly StoragePath[] =>
  foldersBelow(scope.rights, rightOn(scope, path)) as readonly StoragePath[]

/** the direct subfolders that belong to the caller, or lead to folders of the caller. */
export const foldersTowards = (scope: Omit<Scope, 'site'>, path: StoragePath): readonly StoragePath[] => {
  const depth = segmentsOf(path).length + 1
  return [
    ...new Set(ownFoldersBelow(scope, path).map((own) => segmentsOf(own).slice(0, depth).join('/'))),
  ] as StoragePath[]
}
