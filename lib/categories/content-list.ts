import type { Json } from '../core/answer-size.ts'
import { type ContentKind, textMember } from '../core/content-kinds.ts'
import type { SiteId } from '../core/ids.ts'
import type { ListDeps } from './association-list.ts'
import type { ListSource } from './choose-page.ts'
import type { Listed } from './contents.ts'
import { contentShape, type Item } from './query/item-shape.ts'
import type { ListDescription, ListQuery } from './query/list-query.ts'
import { type ItemPage, runList, writeItems } from './run-list.ts'

export const contentList = (site: SiteId, kind: ContentKind): ListDescription => ({
  shape: contentShape(kind),
  identity: [site, kind],
})

const idOf = (item: Item): number => Number(item['id'])

/** The store lists everything but long texts, so nothing is read twice. Errors: listTooLong. */
export const listContents = (
  { contents, longestList }: ListDeps,
  site: SiteId,
  kind: ContentKind,
  query: ListQuery,
): Promise<Json<ItemPage>> => {
  const text = textMember(kind)

  const addTexts = async (items: readonly Item[], member: string): Promise<Item[]> => {
    const texts = await contents.texts(site, kind, items.map(idOf))
    return items.map((item) => ({ ...item, [member]: texts.get(idOf(item)) ?? '' }))
  }

  const source: ListSource<Listed> = {
    entries: (after, limit) => contents.list(site, kind, after, limit),
    count: (after, limit) => contents.count(site, kind, after, limit),
    outline: ({ id, content }) => content ?? { id },
    outlineHas: () => true,
    items: async (entries) => entries.flatMap(({ content }) => content ?? []),
    write: (items, fields) =>
      text !== undefined && fields.showsOwn(text)
        ? writeItems(items, fields, (some) => addTexts(some, text))
        : writeItems(items, fields),
  }
  return runList(source, query, longestList)
}
