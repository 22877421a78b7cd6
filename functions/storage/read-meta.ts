import type { Answer } from '../../lib/contract/contract.ts'
import type { content, entry } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { entityTagOf } from '../../lib/core/headers.ts'
import { readSwitches } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import type { DataCentre, Site } from '../../lib/sites/site-directory.ts'
import { encodePath, isInScope, nameOf, root, type Scope, type StoragePath } from '../../lib/storage/path.ts'
import { type Entry, type FileBelow, listFiles, listFolder } from '../../lib/storage/reading/listing.ts'
import { describeFile, describeFolder } from '../../lib/storage/reading/read-file.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { spellingsOf } from '../../lib/storage/resolve-path.ts'
import { describablePath, operation, schemaOf, scopeOf, timeOf } from './params.ts'

type EntryView = Answer<typeof entry>
type ContentView = Answer<typeof content>
type FileState = NonNullable<Awaited<ReturnType<typeof describeFile>>>

const listingOf = (query: Switches) => readSwitches(query, ['limit', 'cursor', 'recursive'], schemaOf('listing'))

const addressOf = ({ url }: DataCentre, { id }: Site, path: StoragePath): string =>
  `${url}/api/v2/admin/sites/${id}/storage${path === root ? '' : `/${encodePath(path)}`}`

const linksTo = (uri: string) => [{ rel: 'storage', uri }]

const fileView = (name: string, uri: string, { info, page }: FileState, fingerprint: string | null): EntryView => ({
  name,
  type: 'file',
  size: info.size,
  lastModified: timeOf(info.modified),
  contentType: info.contentType,
  etag: entityTagOf(info),
  fingerprint,
  ...(page && {
    draft: page.draft ? { size: page.draft.size, lastModified: timeOf(page.draft.modified) } : null,
    workflow: page.isInWorkflow ? 'running' : null,
  }),
  links: linksTo(uri),
})

type FolderState = NonNullable<Awaited<ReturnType<typeof describePage>>>

const folderView = (name: string, uri: string, { created, listing }: FolderState): EntryView => ({
  name,
  type: 'folder',
  size: 0,
  lastModified: created === undefined ? null : timeOf(created),
  links: linksTo(uri),
  contents: listing.contents,
  ...(listing.cursor !== undefined && { cursor: listing.cursor }),
})

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

const describePage = async (
  { files }: StorageDeps,
  scope: Scope,
  path: StoragePath,
  uri: string,
  { limit, cursor, recursive: isRecursive }: Awaited<ReturnType<typeof listingOf>>,
) => {
  const page = isRecursive
    ? listFiles(files, scope, path, { limit, cursor, viewOf: (file) => fileBelowView(file, uri) })
    : listFolder(files, scope, path, { limit, cursor, viewOf: (entry) => childView(entry, uri) })
  return describeFolder(files, scope, path, page, !isRecursive && cursor === undefined)
}

/** GET with `?meta`: describes a file, or a folder with its contents in pages (S-74 to S-81, A-43). */
export const getMeta = operation({ params: describablePath, query: listingOf }, async (input, deps) => {
  const { site, dataCentre, params, query, deadline } = input
  const { files } = deps
  const scope = scopeOf(input, 'read')
  const viewOf = async (path: StoragePath): Promise<EntryView | undefined> => {
    const uri = addressOf(dataCentre, site, path)
    const file = isInScope(scope, path) ? await describeFile(deps, site.id, path) : undefined
    if (file) {
      if (query.recursive) throw storageRefused('This path is a file. Leave out recursive, or name a folder.')
      return fileView(nameOf(path), uri, file, await files.fingerprintOf(file.info, deadline))
    }
    const folder = await describePage(deps, scope, path, uri, query)
    return folder && folderView(nameOf(path), uri, folder)
  }
  for await (const path of spellingsOf(files, scope, params.path)) {
    const value = await viewOf(path)
    if (value) return ok(value)
  }
  throw new ServiceError('fileUnknown')
})
