import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { Handler, Request } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { checksumAlgorithms } from '../../lib/storage/uploads/upload.ts'
import { deletePath, postPath, putPath } from './change-path.ts'
import { listChanges } from './list-changes.ts'
import { readPath, readRoot } from './read-path.ts'
import { appendToUpload, cancelUpload, describeUpload, isTus, readUpload, tusVersion } from './resumable-upload.ts'

const uploadPath = /^\/api\/v2\/admin\/sites\/[^/]+\/uploads\/[^/]+\/?$/

// "The X-HTTP-Method-Override request header MUST be interpreted as the request's method" (tus 1.0). Applies only to
// uploads.
const methodOf = ({ method, path, headers }: Request): string => {
  const meant = headers['x-http-method-override']?.trim().toUpperCase()
  return meant && uploadPath.test(path) ? meant : method
}

const answersTus = { 'Tus-Resumable': tusVersion }

const abilitiesWith = (largest: number) => ({
  ...answersTus,
  'Tus-Version': tusVersion,
  'Tus-Extension': 'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
  'Tus-Max-Size': String(largest),
  'Tus-Checksum-Algorithm': checksumAlgorithms.join(','),
})

/**
 * Translates a request of tus. Every answer to such a request has the headers of tus. `largest` is the size of the
 * largest upload, in bytes.
 */
const asTusRequest = (request: Request, largest: number): Request => {
  const method = methodOf(request)
  if (method === 'OPTIONS') return { ...request, method, answerHeaders: abilitiesWith(largest) }
  if (!isTus(request.headers) && !uploadPath.test(request.path)) return request
  return { ...request, method, answerHeaders: answersTus }
}

const operations = {
  uploadToFolder: postPath,
  uploadToRoot: postPath,
  readRoot,
  readPath,
  deletePath,
  deleteRoot: deletePath,
  putPath,
  putRoot: putPath,
  describeUpload,
  readUpload,
  appendToUpload,
  cancelUpload,
  listChanges,
}

export const createStorageHandler = (deps: StorageDeps): Handler =>
  createHandler('storage', storageRoutes, operations, deps, (request) =>
    asTusRequest(request, deps.largestResumableFile),
  )
