import { accessRoutes } from './access.ts'
import { categoriesRoutes } from './categories.ts'
import { documentationRoutes } from './documentation.ts'
import { fieldsRoutes } from './fields.ts'
import { storageRoutes } from './storage.ts'
import { webhooksRoutes } from './webhooks.ts'

// The API document begins with the operations that need no token.
const [health, root, ...ofFields] = fieldsRoutes

/**
 * The one route table. The router, the local server, the deployment and the API document all read it. `right` is the
 * right that the caller needs; for files, a right on one folder is enough here. A GET route answers HEAD too, and every
 * path answers OPTIONS. Each group keeps its own rows, so that its function contains no other rows.
 */
export const routes = [
  health,
  root,
  ...documentationRoutes,
  ...ofFields,
  ...categoriesRoutes,
  ...storageRoutes,
  ...accessRoutes,
  ...webhooksRoutes,
] as const

export type OperationOf<Group extends string> = Extract<(typeof routes)[number], { group: Group }>['operation']

/**
 * The gateway sends the requests below each prefix to the function of its group; the first prefix that fits counts. `*`
 * is one segment. No path of another group may end like a path of the storage or of webhooks, because the `*` of a
 * distribution matches any number of segments.
 */
export const prefixes = [
  { group: 'documentation', prefix: '/openapi.json' },
  { group: 'documentation', prefix: '/docs' },
  { group: 'documentation', prefix: '/console' },
  { group: 'access', prefix: '/api/v1/admin/tokens' },
  { group: 'fields', prefix: '/api/v1' },
  { group: 'webhooks', prefix: '/webresources/api/v3/sites/*/webhooks' },
  { group: 'categories', prefix: '/webresources/api/v3' },
  { group: 'storage', prefix: '/api/v2/admin/sites/*/storage' },
  { group: 'storage', prefix: '/api/v2/admin/sites/*/uploads' },
  { group: 'storage', prefix: '/api/v2/admin/sites/*/changes' },
  { group: 'access', prefix: '/api/v2' },
] as const

/** This group answers all other paths, so that their 404 and 405 have the body of this service. */
const catchAllGroup = 'fields'

const patterns = prefixes.map(({ group, prefix }) => ({
  group,
  expression: new RegExp(`^${prefix.replaceAll('.', '\\.').replaceAll('*', '[^/]+')}(?:/|$)`),
}))

export const groupAt = (path: string): (typeof prefixes)[number]['group'] =>
  patterns.find(({ expression }) => expression.test(path))?.group ?? catchAllGroup
