/**
 * The one route table. The router, the local server, the deployment and the API document all read it.
 * `number` is the operation's number in the contract (api.md); operations without one are neighbours that its clients need.
 * A GET route answers HEAD as well, and OPTIONS is answered on every path.
 */
export const routes = [
  { operation: 'getHealth', method: 'GET', path: '/health', group: 'fields', public: true },
  { operation: 'getOpenApi', method: 'GET', path: '/openapi.json', group: 'documentation', public: true },
  { operation: 'getReference', method: 'GET', path: '/docs', group: 'documentation', public: true },
  { operation: 'getReferenceAsset', method: 'GET', path: '/docs/{asset}', group: 'documentation', public: true },
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
  {
    operation: 'listNewsOfCategory',
    number: 6,
    method: 'GET',
    path: '/webresources/api/v3/sites/{site}/categories/{category}/news',
    group: 'categories',
  },
  {
    operation: 'linkNews',
    number: 7,
    method: 'POST',
    path: '/webresources/api/v3/sites/{site}/categories/{category}/news',
    group: 'categories',
  },
  {
    operation: 'unlinkNews',
    number: 8,
    method: 'DELETE',
    path: '/webresources/api/v3/sites/{site}/categories/{category}/news',
    group: 'categories',
  },
  {
    operation: 'listBlogsOfCategory',
    number: 9,
    method: 'GET',
    path: '/webresources/api/v3/sites/{site}/categories/{category}/blogs',
    group: 'categories',
  },
  {
    operation: 'linkBlogs',
    number: 10,
    method: 'POST',
    path: '/webresources/api/v3/sites/{site}/categories/{category}/blogs',
    group: 'categories',
  },
  {
    operation: 'unlinkBlogs',
    number: 11,
    method: 'DELETE',
    path: '/webresources/api/v3/sites/{site}/categories/{category}/blogs',
    group: 'categories',
  },
  {
    operation: 'listCategories',
    method: 'GET',
    path: '/webresources/api/v3/sites/{site}/categories',
    group: 'categories',
  },
  {
    operation: 'getCategory',
    method: 'GET',
    path: '/webresources/api/v3/sites/{site}/categories/{category}',
    group: 'categories',
  },
  {
    operation: 'listCategoriesOfNews',
    method: 'GET',
    path: '/webresources/api/v3/sites/{site}/news/{object}/categories',
    group: 'categories',
  },
  {
    operation: 'listCategoriesOfBlog',
    method: 'GET',
    path: '/webresources/api/v3/sites/{site}/blogs/{object}/categories',
    group: 'categories',
  },
  {
    operation: 'uploadToFolder',
    number: 12,
    method: 'POST',
    path: '/api/v2/admin/sites/{site}/storage/{path+}',
    group: 'storage',
  },
  {
    operation: 'uploadToRoot',
    number: 12,
    method: 'POST',
    path: '/api/v2/admin/sites/{site}/storage',
    group: 'storage',
  },
  { operation: 'readRoot', number: 13, method: 'GET', path: '/api/v2/admin/sites/{site}/storage', group: 'storage' },
  {
    operation: 'deletePath',
    number: 14,
    method: 'DELETE',
    path: '/api/v2/admin/sites/{site}/storage/{path+}',
    group: 'storage',
  },
  {
    operation: 'deleteRoot',
    number: 14,
    method: 'DELETE',
    path: '/api/v2/admin/sites/{site}/storage',
    group: 'storage',
  },
  { operation: 'readPath', method: 'GET', path: '/api/v2/admin/sites/{site}/storage/{path+}', group: 'storage' },
  { operation: 'putPath', method: 'PUT', path: '/api/v2/admin/sites/{site}/storage/{path+}', group: 'storage' },
  { operation: 'putRoot', method: 'PUT', path: '/api/v2/admin/sites/{site}/storage', group: 'storage' },
] as const

export type RouteOf<Group extends string> = Extract<(typeof routes)[number], { group: Group }>
export type OperationOf<Group extends string> = RouteOf<Group>['operation']

/** The path prefix of each group: what the gateway sends to that group's function. */
export const prefixes = [
  { group: 'documentation', prefix: '/openapi.json' },
  { group: 'documentation', prefix: '/docs' },
  { group: 'fields', prefix: '/api/v1' },
  { group: 'categories', prefix: '/webresources/api/v3' },
  { group: 'storage', prefix: '/api/v2' },
] as const

/** Paths outside every prefix go to this group, so that 404 and 405 have the service's own body there too. */
export const catchAllGroup = 'fields'
