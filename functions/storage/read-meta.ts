import type { Answer } from '../../lib/contract/contract.ts'
import type { content, entry } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { entityTagOf } from '../../lib/core/headers.ts'
import { type OperationInput, readSwitches } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { isInWorkflow } from '../../lib/storage/changes/look.ts'
import { findFile } from '../../lib/storage/changes/remove.ts'
import { isPage } from '../../lib/storage/file-kind.ts'
import { encodePath, folderKey, isInScope, nameOf, root, type StoragePath } from '../../lib/storage/path.ts'
import { type Entry, entriesTowards, type FileBelow, listFiles, listFolder } from '../../lib/storage/reading/listing.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { spellingsOf } from '../../lib/storage/resolve-path.ts'
import { describablePath, operation, schemaOf, scopeOf, timeOf } from './params.ts'

type EntryView = Answer<typeof entry>
type ContentView = Answer<typeof content>
const listingOf = (query: Switches) => readSwitches(query, ['limit', 'cursor', 'recursive'], schemaOf('listing'))

type Input = OperationInput<unknown, Awaited<ReturnType<typeof listingOf>>>

const addressOf = ({ dataCentre, site }: Input, path: StoragePath): string =>
  `${dataCentre.url}/api/v2/admin/sites/${site.id}/storage${path === root ? '' : `/${encodePath(path)}`}`

const linksTo = (uri: string) => [{ rel: 'storage', uri }]

const describeFile = async (deps: StorageDeps, input: Input, path: StoragePath): Promise<EntryView | undefined> => {
  const { site, query, deadline } = input
  const found = [findFile(deps, site.id, path), isInWorkflow(deps, site.id, [path])] as const
  const [{ live, draft }, isRunning] = await Promise.all(found)
  if (!live) return undefined
  if (query.recursive) throw storageRefused('This path is a file. Leave out recursive, or name a folder.')
  return {
    name: nameOf(path),
    type: 'file',
    size: live.size,
    lastModified: timeOf(live.modified),
    contentType: live.contentType,
    etag: entityTagOf(live),
    fingerprint: await deps.files.fingerprintOf(live, deadline),
    ...(isPage(path) && {
      draft: draft ? { size: draft.size, lastModified: timeOf(draft.modified) } : null,
      workflow: isRunning ? 'running' : null,
    }),
    links: linksTo(addressOf(input, path)),
  }
}

const childView = ({ name, type, size, modified }: Entry, folderUri: string): ContentView => ({
  name,
  type,
  size,
  lastModified: modified === undefined ? null : timeOf(modified),
  links: linksTo(`${folderUri}/${encodeURIComponent(name)}`),
})

const fileBelowView = (file: FileBelow, folderUri: string): ContentView => ({
  name: nameOf(file.path),
  path: file.path,
  type: 'file',
  size: file.size,
  lastModified: timeOf(file.modified),
  etag: entityTagOf(file),
  fingerprint: file.fingerprint,
  links: linksTo(`${folderUri}/${encodePath(file.path)}`),
})

const describeFolder = async (deps: StorageDeps, input: Input, path: StoragePath): Promise<EntryView | undefined> => {
  const { files } = deps
  const { limit, cursor, recursive: isRecursive } = input.query
  const scope = scopeOf(input, 'read')
  const uri = addressOf(input, path)
  const key = folderKey('live', scope.site, path)
  const isOwn = isInScope(scope, path)
  const [marker, page] = await Promise.all([
    isOwn && path !== root ? files.find(key) : undefined,
    isRecursive
      ? listFiles(files, scope, path, { limit, cursor, viewOf: (file) => fileBelowView(file, uri) })
      : listFolder(files, scope, path, { limit, cursor, viewOf: (entry) => childView(entry, uri) }),
  ])
  const exists = async () => (isOwn ? files.exists(key) : (await entriesTowards(files, scope, path)).length > 0)
  const isEmpty = path !== root && !marker && page.contents.length === 0
  const isFromStart = !isRecursive && cursor === undefined
  if (isEmpty && (isFromStart || !(await exists()))) return undefined
  return {
    name: nameOf(path),
    type: 'folder',
    size: 0,
    lastModified: marker ? timeOf(marker.modified) : null,
    links: linksTo(uri),
    contents: page.contents,
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  }
}

/** GET with `?meta`: describes a file, or a folder with its contents in pages (S-74 to S-81, A-43). */
export const getMeta = operation({ params: describablePath, query: listingOf }, async (input, deps) => {
  const scope = scopeOf(input, 'read')
  for await (const path of spellingsOf(deps.files, scope, input.params.path)) {
    const file = isInScope(scope, path) ? await describeFile(deps, input, path) : undefined
    const value = file ?? (await describeFolder(deps, input, path))
    if (value) return ok(value)
  }
  throw new ServiceError('fileUnknown')
})
