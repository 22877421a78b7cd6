const root = '/api/v2/admin/sites/{site}/storage'
const path = `${root}/{path+}` as const
const upload = '/api/v2/admin/sites/{site}/uploads/{upload}'
const files = { group: 'storage', permission: 'files' } as const

export const storageRoutes = [
  { operation: 'uploadToFolder', method: 'POST', path, ...files },
  { operation: 'uploadToRoot', method: 'POST', path: root, ...files },
  { operation: 'readRoot', method: 'GET', path: root, ...files },
  { operation: 'deletePath', method: 'DELETE', path, ...files },
  { operation: 'deleteRoot', method: 'DELETE', path: root, ...files },
  { operation: 'readPath', method: 'GET', path, ...files },
  { operation: 'putPath', method: 'PUT', path, ...files },
  { operation: 'putRoot', method: 'PUT', path: root, ...files },
  { operation: 'describeUpload', method: 'HEAD', path: upload, ...files, keepsMethod: true },
  { operation: 'readUpload', method: 'GET', path: upload, ...files, keepsMethod: true },
  { operation: 'appendToUpload', method: 'PATCH', path: upload, ...files, keepsMethod: true },
  { operation: 'cancelUpload', method: 'DELETE', path: upload, ...files, keepsMethod: true },
  { operation: 'listChanges', method: 'GET', path: '/api/v2/admin/sites/{site}/changes', group: 'storage' },
] as const
