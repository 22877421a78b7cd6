import type { StorageDeps } from '../../lib/deps.ts'
import { type SiteUrls, siteUrls } from '../../lib/http/links.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Request } from '../../lib/http/request.ts'
import { describeEntry, type Entry, listFolder } from '../../lib/storage/list-folder.ts'
import { encodePath, root, type StoragePath } from '../../lib/storage/path.ts'
import type { Answer } from '../answer.ts'
import type { content, entry as entryAnswer } from './answers.doc.ts'
import { pathOf, queryValue, readSwitches } from './params.ts'

const pageOf = (query: Request['query']) =>
  readSwitches(
    { limit: queryValue(query, 'limit'), cursor: queryValue(query, 'cursor') },
    async () => (await import('./switches.ts')).page,
  )

const entryView = ({ name, type, size, modified }: Entry, path: string, urls: SiteUrls): Answer<typeof content> => ({
  name,
  type,
  size,
  lastModified: modified === undefined ? null : new Date(modified).toISOString(),
  links: [{ rel: 'self', uri: `${urls.storage(path)}${type === 'folder' ? '?meta' : ''}` }],
})

const childPath = (folder: StoragePath, name: string): string =>
  folder === root ? encodeURIComponent(name) : `${encodePath(folder)}/${encodeURIComponent(name)}`

/** GET with `?meta`: what a file or folder is, and what a folder holds, in pages when it is large (decisions.md, section 5, "Read"). */
export const getMeta = ({ files }: StorageDeps) =>
  operation({ params: pathOf, query: pageOf }, async ({ site, dataCentre, params: { path }, query }) => {
    const urls = siteUrls(dataCentre, site)
    const entry = await describeEntry(files, site.id, path)
    const self = entryView(entry, encodePath(path), urls)
    if (entry.type === 'file') return ok<Answer<typeof entryAnswer>>({ value: self })
    const { contents, cursor: next } = await listFolder(files, site.id, path, {
      limit: query.limit,
      cursor: query.cursor,
    })
    const value: Answer<typeof entryAnswer> = {
      ...self,
      contents: contents.map((child) => entryView(child, childPath(path, child.name), urls)),
      ...(next !== undefined && { cursor: next }),
    }
    return ok({ value })
  })
