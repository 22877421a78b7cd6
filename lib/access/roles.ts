import { type AreaRight, areas, rightOf } from '../core/rights.ts'

const role = (isPerFolder: boolean, ...rights: readonly AreaRight[]) => ({ isPerFolder, rights: rights.map(rightOf) })

/**
 * With `isPerFolder`, the rights on files apply only to the folders that the person has on the site.
 */
export const roles = {
  owner: role(false, ...areas.map((area) => `${area}:write` as const)),
  editor: role(false, 'files:write', 'forms:write', 'categories:write', 'history:read'),
  author: role(true, 'files:write', 'history:read'),
  viewer: role(false, 'files:read', 'forms:read', 'categories:read', 'history:read'),
}

export type RoleName = keyof typeof roles

export const roleNames = Object.keys(roles) as [RoleName, ...RoleName[]]
