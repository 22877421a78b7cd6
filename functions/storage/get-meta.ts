import { largestPage, takeThatFit } from '../../lib/answer-size.ts'
import type { StorageDeps } from '../../lib/deps.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Request } from '../../lib/http/request.ts'
import { describeEntry, type Entry, listFolder } from '../../lib/storage/list-folder.ts'
import { encodePath } from '../../lib/storage/path.ts'
import type { Answer } from '../contract.ts'
import type { content, entry as entryAnswer } from './contract.ts'
import { pathOf, queryValue, readSwitches } from './params.ts'

const listingOf = (query: Request['query']) =>
  readSwitches(
    { limit: queryValue(query, 'limit'), cursor: queryValue(query, 'cursor') },
    async () => (await import('./switches.ts')).listing,
  )

const entryView = ({ name, type, size, modified }: Entry, uri: string): Answer<typeof content> => ({
  name,
  type,
  size,
  lastModified: modified === undefined ? null : new Date(modified).toISOString(),
  links: [{ rel: 'self', uri: type === 'folder' ? `${uri}?meta` : uri }],
})

/** More than an entry has in bytes within an answer, beside its name and the URI of its folder. */
const roughEntry = 256
/** More than a character of a name has: four for a quote as a text within JSON, and nine in the URI. */
const roughCharacter = 13

/** Measures entries only when they might be too many: writing each of them twice would cost as much as all the rest. */
const countThatFit = (entries: readonly Entry[], folderUri: string, view: (entry: Entry) => unknown): number => {
  const characters = entries.reduce((sum, { name }) => sum + name.length, 0)
  const most = entries.length * (roughEntry + folderUri.length) + characters * roughCharacter
  return most <= largestPage ? entries.length : takeThatFit(entries, view, largestPage).taken.length
}

/** GET with `?meta`: what a file or folder is, and what a folder holds, in pages when it is large (decisions.md, section 5, "Read"). */
export const getMeta = ({ files }: StorageDeps) =>
  operation({ params: pathOf, query: listingOf }, async ({ site, dataCentre, params: { path }, query }) => {
    const uri = siteUrls(dataCentre, site).storage(encodePath(path))
    const entry = await describeEntry(files, site.id, path)
    const self = entryView(entry, uri)
    if (entry.type === 'file') return ok<Answer<typeof entryAnswer>>({ value: self })
    const view = (child: Entry) => entryView(child, `${uri}/${encodeURIComponent(child.name)}`)
    const { contents, cursor: next } = await listFolder(files, site.id, path, {
      limit: query.limit,
      cursor: query.cursor,
      countThatFit: (entries) => countThatFit(entries, uri, view),
    })
    const value: Answer<typeof entryAnswer> = {
      ...self,
      contents: contents.map(view),
      ...(next !== undefined && { cursor: next }),
    }
    return ok({ value })
  })
