import type { Answer } from '../../lib/contract/contract.ts'
import type { removalPreview, removedPage, versionPage } from '../../lib/contract/storage/contract-schemas.ts'
import { readCursor, writeCursor } from '../../lib/core/cursor.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { ok } from '../../lib/http/reply.ts'
import type { ObjectVersion, RemovedEntry } from '../../lib/storage/object-store.ts'
import { fileKey, folderKey, root } from '../../lib/storage/path.ts'
import { previewRemoval } from '../../lib/storage/reading/preview-removal.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { operation, pageOf, readablePath, scopeOf, timeOf } from './params.ts'

const viewOfVersion = ({ id, at, size, isRemoved, isCurrent }: ObjectVersion) => ({
  version: id,
  at: timeOf(at),
  size,
  removed: isRemoved,
  current: isCurrent,
})

export const listVersions = operation({ params: readablePath, query: pageOf }, async (input, deps) => {
  const { path } = input.params
  const { limit, cursor } = input.query
  if (path === root) throw new ServiceError('notAFile')
  const after = cursor === undefined ? undefined : readCursor(cursor, ['version'], 'storageRefused').after
  const page = await deps.files.versions(fileKey('live', input.site.id, path), { limit, after })
  if (!page) throw storageRefused('The version that this cursor names is no longer kept. List again without a cursor.')
  const { versions, next } = page
  if (versions.length === 0 && after === undefined) {
    const isFolder = await deps.files.exists(folderKey('live', input.site.id, path))
    throw new ServiceError(isFolder ? 'notAFile' : 'fileUnknown')
  }
  return ok<Answer<typeof versionPage>>({
    versions: versions.map(viewOfVersion),
    ...(next !== undefined && { cursor: writeCursor({ by: 'version', after: next }) }),
  })
})

const viewOfRemoved = ({ key, removedAt, size }: RemovedEntry, prefix: string) => ({
  name: key.slice(prefix.length).replace(/\/$/, ''),
  type: size === null ? ('folder' as const) : ('file' as const),
  removedAt: timeOf(removedAt),
  size,
})

export const listDeleted = operation({ params: readablePath, query: pageOf }, async (input, { files }) => {
  const { path } = input.params
  const { limit, cursor } = input.query
  const prefix = folderKey('live', input.site.id, path)
  const after = cursor === undefined ? undefined : `${prefix}${readCursor(cursor, ['name'], 'storageRefused').after}`
  const { entries, next } = await files.listRemoved({ prefix, limit, after })
  const isNothing = entries.length === 0 && next === undefined && after === undefined
  if (isNothing && path !== root && !(await files.exists(prefix))) {
    throw new ServiceError('fileUnknown')
  }
  return ok<Answer<typeof removedPage>>({
    deleted: entries.map((entry) => viewOfRemoved(entry, prefix)),
    ...(next !== undefined && { cursor: writeCursor({ by: 'name', after: next.slice(prefix.length) }) }),
  })
})

export const getRemoval = operation({ params: readablePath }, async ({ params, deadline, ...asking }, deps) => {
  const { atLeast, ...preview } = await previewRemoval(deps, scopeOf(asking, 'write'), params.path, deadline)
  return ok<Answer<typeof removalPreview>>({ ...preview, ...(atLeast && { atLeast }) })
})
