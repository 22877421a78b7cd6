import type { Json } from '../core/answer-size.ts'
import type { SiteId } from '../core/ids.ts'
import type { Entry, ListSource } from './choose-page.ts'
import type { Count } from './contents.ts'
import type { Item, ItemShape } from './query/item-shape.ts'
import type { ListDescription, ListQuery } from './query/list-query.ts'
import { type ItemPage, runList, writeItems } from './run-list.ts'

export const siteUrlShape: ItemShape = {
  key: 'siteId',
  own: { siteId: { type: 'integer' }, url: { type: 'string' } },
  objects: [],
}

export const siteUrlList = (site: SiteId): ListDescription => ({ shape: siteUrlShape, identity: [site, 'url'] })

export const listSiteUrls = (site: SiteId, url: string, query: ListQuery): Promise<Json<ItemPage>> => {
  const item: Item = { siteId: site, url }
  const behind = (after: number, limit: number): readonly Entry[] => (site > after && limit > 0 ? [{ id: site }] : [])
  const source: ListSource<Entry> = {
    entries: async (after, limit) => behind(after, limit),
    async count(after, limit): Promise<Count> {
      const count = behind(after, limit).length
      return { count, last: count > 0 ? site : after, ended: count < limit }
    },
    outline: () => item,
    outlineHas: () => true,
    items: async (entries) => entries.map(() => item),
    write: writeItems,
  }
  return runList(source, query, Number.POSITIVE_INFINITY)
}
