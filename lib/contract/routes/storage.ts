const root = '/api/v2/admin/sites/{site}/storage'
const path = `${root}/{path+}` as const
const upload = '/api/v2/admin/sites/{site}/uploads/{upload}'
const changes = '/api/v2/admin/sites/{site}/changes'
const group = 'storage' as const
const read = { group, right: 'files:read' } as const
const write = { group, right: 'files:write' } as const
const ofUpload = { ...write, keepsMethod: true } as const

export const storageRoutes = [
  { operation: 'uploadToFolder', method: 'POST', path, ...write },
  { operation: 'uploadToRoot', method: 'POST', path: root, ...write },
  { operation: 'readRoot', method: 'GET', path: root, ...read },
  { operation: 'deletePath', method: 'DELETE', path, ...write },
  { operation: 'deleteRoot', method: 'DELETE', path: root, ...write },
  { operation: 'readPath', method: 'GET', path, ...read },
  { operation: 'putPath', method: 'PUT', path, ...write },
  { operation: 'putRoot', method: 'PUT', path: root, ...write },
  { operation: 'describeUpload', method: 'HEAD', path: upload, ...ofUpload },
  { operation: 'readUpload', method: 'GET', path: upload, ...ofUpload },
  { operation: 'appendToUpload', method: 'PATCH', path: upload, ...ofUpload },
  { operation: 'cancelUpload', method: 'DELETE', path: upload, ...ofUpload },
  { operation: 'listChanges', method: 'GET', path: changes, group, right: 'history:read' },
] as const
