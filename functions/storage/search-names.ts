import type { Answer } from '../../lib/contract/contract.ts'
import type { searchPage } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { reserves } from '../../lib/core/time.ts'
import { readSwitches } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import { longestListing } from '../../lib/storage/object-store.ts'
import { folderKey, pathIn, root } from '../../lib/storage/path.ts'
import { searchNames } from '../../lib/storage/reading/search.ts'
import { describablePath, operation, schemaOf, scopeOf, timeOf } from './params.ts'

const searchOf = async (query: Switches) => {
  const {
    search = '',
    limit = 100,
    cursor,
  } = await readSwitches(query, ['search', 'limit', 'cursor'], schemaOf('searchQuery'))
  return { text: search, limit: Math.min(limit, longestListing), cursor }
}

/** GET with `?search=TEXT`: finds files and folders below a folder by a part of their names (S-127). */
export const searchFolder = operation({ params: describablePath, query: searchOf }, async (input, { files }) => {
  const { site, params, query, deadline } = input
  using end = deadline.reserving(reserves.preview)
  const { contents, cursor } = await searchNames(files, scopeOf(input, 'read'), params.path, {
    ...query,
    deadline: end,
  })
  const isNothing = contents.length === 0 && query.cursor === undefined && cursor === undefined
  if (isNothing && params.path !== root && !(await files.exists(folderKey('live', site.id, params.path)))) {
    throw new ServiceError('fileUnknown')
  }
  return ok<Answer<typeof searchPage>>({
    items: contents.map(({ key, size, modified }) => ({
      path: pathIn(key),
      type: key.endsWith('/') ? 'folder' : 'file',
      size,
      lastUpdateDate: timeOf(modified),
    })),
    ...(cursor !== undefined && { nextCursor: cursor }),
  })
})
