import type { LinkList } from '../../lib/categories/category-links.ts'
import { type Content, listWhole } from '../../lib/categories/contents.ts'
import { type ContentKind, contentKinds, contentMembers, objectKindNames } from '../../lib/core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../lib/core/ids.ts'
import { type ContentStores, readPages } from '../stores/admin-stores.ts'

// The number of forms, links and objects in one read. Objects with long texts are read in smaller numbers.
const step = 1_000
const contentsTogether = 100

async function* formRecords({ webForms }: ContentStores, site: SiteId): AsyncGenerator<object, void> {
  for await (const forms of readPages(step, (after, limit) => webForms.listWhole(site, after, limit))) {
    for (const { id, name, fields } of forms) {
      yield { kind: 'webForm', id, name }
      for (const field of fields) yield { kind: 'field', webFormId: id, ...field }
    }
  }
}

// The import sets `siteId`, and null is the default of most members, so both are left out.
const membersOf = (kind: ContentKind, content: Content): object => {
  const members = Object.entries(contentMembers[kind]).filter(([name]) => name !== 'siteId')
  return Object.fromEntries(
    members.flatMap(([name, { nullable }]) => {
      const value = content[name] ?? null
      return value === null && !nullable ? [] : [[name, value]]
    }),
  )
}

// The ids that were written so far, in order. 200,000 ids take a few megabytes.
type Written = ReadonlyMap<ContentKind, readonly number[]>

async function* contentRecords({ contents }: ContentStores, site: SiteId, kind: ContentKind, written: number[]) {
  const read = (after: number, limit: number) => listWhole(contents, site, kind, after, limit)
  for await (const listed of readPages(contentsTogether, read)) {
    for (const { id, content } of listed) {
      if (!content) continue
      yield { kind, ...membersOf(kind, content) }
      written.push(id)
    }
  }
}

// The calls must pass ascending ids.
const follow = (written: readonly number[]): ((id: number) => boolean) => {
  let at = 0
  return (id) => {
    while ((written[at] ?? Number.POSITIVE_INFINITY) < id) at += 1
    return written[at] === id
  }
}

// Exports only links of exported objects. Other links belong to newer objects, or were left by a failed request. An
// import would refuse them.
async function* linksOf({ links }: ContentStores, list: LinkList, written: Written): AsyncGenerator<object, void> {
  const { kind, category } = list
  const wasWritten = follow(written.get(kind) ?? [])
  const read = (after: number, limit: number) => links.list(list, after, limit, true)
  for await (const some of readPages(step, read)) {
    for (const { id, displayable } of some) {
      const link = { kind: 'link', type: kind, categoryId: category, objectId: id, displayable: displayable ? 1 : 0 }
      if (wasWritten(id)) yield link
    }
  }
}

async function* linkRecords(stores: ContentStores, site: SiteId, written: Written): AsyncGenerator<object, void> {
  for (const category of written.get('category') ?? []) {
    for (const kind of objectKindNames)
      yield* linksOf(stores, { site, kind, category: category as CategoryId }, written)
  }
}

/**
 * Exports everything of a site except its files. A record comes after the records that it refers to. Changes that
 * happen during the export may be missing. Errors: unavailable.
 */
export async function* exportRecords(stores: ContentStores, site: SiteId): AsyncGenerator<object, void> {
  yield* formRecords(stores, site)
  const written = new Map<ContentKind, readonly number[]>()
  for (const kind of contentKinds) {
    const ids: number[] = []
    yield* contentRecords(stores, site, kind, ids)
    written.set(kind, ids)
  }
  yield* linkRecords(stores, site, written)
}
