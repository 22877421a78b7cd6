import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll } from 'vitest'
import { createCategoryStores } from '../../../lib/aws/dynamodb/category-stores.ts'
import { createLinkItems } from '../../../lib/aws/dynamodb/link-items.ts'
import type { LinkList } from '../../../lib/categories/category-links.ts'
import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import { entry, unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import type { TestTables } from '../../support/tables.ts'
import { newsItems } from '../ports/some-content.ts'

export const site = 1001 as SiteId
export const category = 5 as CategoryId
export const newsOfCategory: LinkList = { site, kind: 'news', category }

type Client = DynamoDBDocumentClient
type Closes = (close: () => void | Promise<void>) => unknown

const depsOf = (client: Client, { content, categoryLinks }: TestTables['names'], longestStall: number) => ({
  ...createCategoryStores({
    dynamodb: client,
    contentTable: content,
    categoryLinksTable: categoryLinks,
    record: unrecorded,
    longestStall,
  }),
  /** The table below the port, item by item. */
  linkItems: createLinkItems({ dynamodb: client, table: categoryLinks, longestStall }),
  longestList: 20_000,
})

export type Deps = ReturnType<typeof depsOf>

/** Only the tables of dynalite count capacity. */
export const openStore = async (
  open: () => TestTables | Promise<TestTables> = openMemoryTables,
  closes: Closes = afterAll,
) => {
  const { names, connect, close } = await open()
  closes(() => close())
  /** The stores over a client that may misbehave. `longestStall` is in milliseconds. */
  const over = (client: Client, longestStall = 2_000) => depsOf(client, names, longestStall)
  return { dynamodb: connect(), connect, over }
}

/** A category with news items that are not linked. */
export const fill = async ({ contents }: Deps, ids: readonly number[]): Promise<void> => {
  await contents.putMany(site, 'category', [{ id: category, name: 'Five' }], entry)
  await contents.putMany(site, 'news', newsItems(ids), entry)
}

/** The ids of the objects that the table of links has for the category. */
export const linkedIds = async ({ linkItems }: Deps, list = newsOfCategory): Promise<number[]> =>
  (await linkItems.list(list, 0, 10_000, true)).map(({ id }) => id)
