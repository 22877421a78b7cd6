/**
 * The one route table. The router, the local server, the deployment and the API document all read it.
 * `number` is the operation's number in the contract (api.md); operations without one are neighbours that its clients need.
 * A GET route answers HEAD as well, and OPTIONS is answered on every path.
 */
export const routes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group: 'fields', public: true },
  {
    operation: 'listFields',
    number: 1,
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system',
    group: 'fields',
  },
  {
    operation: 'getField',
    number: 2,
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  {
    operation: 'createField',
    number: 3,
    method: 'POST',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system',
    group: 'fields',
  },
  {
    operation: 'updateField',
    number: 4,
    method: 'PUT',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  {
    operation: 'deleteField',
    number: 5,
    method: 'DELETE',
    path: '/api/v1/admin/sites/{site}/webforms/{webForm}/fields/system/{field}',
    group: 'fields',
  },
  { operation: 'listWebForms', method: 'GET', path: '/api/v1/admin/sites/{site}/webforms', group: 'fields' },
  { operation: 'getWebForm', method: 'GET', path: '/api/v1/admin/sites/{site}/webforms/{webForm}', group: 'fields' },
  {
    operation: 'listFieldTypes',
    method: 'GET',
    path: '/api/v1/admin/sites/{site}/webformfieldtypes/system',
    group: 'fields',
  },
] as const

export type RouteOf<Group extends string> = Extract<(typeof routes)[number], { group: Group }>
export type OperationOf<Group extends string> = RouteOf<Group>['operation']

/** The path prefix of each group: what the gateway sends to that group's function. */
export const prefixes = [{ group: 'fields', prefix: '/api/v1' }] as const

/** Paths outside every prefix go to this group, so that 404 and 405 have the service's own body there too. */
export const catchAllGroup = 'fields'
