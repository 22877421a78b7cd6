/** The rows of this group in the route table (`functions/routes.ts`). */
export const storageRoutes = [
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
