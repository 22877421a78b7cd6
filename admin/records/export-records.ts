import type { LinkList } from '../../lib/categories/category-links.ts'
import type { Content } from '../../lib/categories/contents.ts'
import { type ContentKind, contentKinds, contentMembers, objectKindNames } from '../../lib/core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../lib/core/ids.ts'
import type { ContentStores } from '../stores/admin-stores.ts'

/** How many forms, links and things of a kind are read at a time; fewer of those that may have long texts. */
const step = 1_000
const contentsTogether = 100

/** Reads all that there is, in order of id, some at a time. */
async function* inSteps<Value extends { readonly id: number }>(
  most: number,
  read: (after: number, limit: number) => Promise<readonly Value[]>,
): AsyncGenerator<readonly Value[], void> {
  for (let after = 0; ; ) {
    const values = await read(after, most)
    yield values
    const last = values.at(-1)
    if (last === undefined || values.length < most) return
    after = last.id
  }
}

async function* formRecords({ webForms }: ContentStores, site: SiteId): AsyncGenerator<object, void> {
  for await (const forms of inSteps(step, (after, limit) => webForms.listWhole(site, after, limit))) {
    for (const { id, name, fields } of forms) {
      yield { kind: 'webForm', id, name }
      for (const field of fields) yield { kind: 'field', webFormId: id, ...field }
    }
  }
}

/** The members that a record may have: the site is that of the import, and null says of most of them that there is nothing. */
const membersOf = (kind: ContentKind, content: Content): object => {
  const members = Object.entries(contentMembers[kind]).filter(([name]) => name !== 'siteId')
  return Object.fromEntries(
    members.flatMap(([name, { nullable }]) => {
      const value = content[name] ?? null
      return value === null && !nullable ? [] : [[name, value]]
    }),
  )
}

/** The ids of what has been written, in order: of 200,000 objects they take few megabytes. */
type Written = ReadonlyMap<ContentKind, readonly number[]>

async function* contentRecords({ contents }: ContentStores, site: SiteId, kind: ContentKind, written: number[]) {
  const read = (after: number, limit: number) => contents.listWhole(site, kind, after, limit)
  for await (const listed of inSteps(contentsTogether, read)) {
    for (const { id, content } of listed) {
      if (!content) continue
      yield { kind, ...membersOf(kind, content) }
      written.push(id)
    }
  }
}

/** Answers whether an id is among those that were written, where none below the one before is asked for. */
const follow = (written: readonly number[]): ((id: number) => boolean) => {
  let at = 0
  return (id) => {
    while ((written[at] ?? Number.POSITIVE_INFINITY) < id) at += 1
    return written[at] === id
  }
}

/**
 * The links of a category with those objects that were written. Others have come since, or were left behind by a request that died: whoever imports
 * them would find nothing to link.
 */
async function* linksOf({ links }: ContentStores, list: LinkList, written: Written): AsyncGenerator<object, void> {
  const { kind, category } = list
  const wasWritten = follow(written.get(kind) ?? [])
  for await (const some of inSteps(step, (after, limit) => links.listConsistently(list, after, limit))) {
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
 * Everything of a site but its files, as the records of an import, each behind those that it refers to, which are there. What is changed meanwhile may
 * be in it as it was before or as it is after. Errors: unavailable.
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
