import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createCategoryLinksTable, type LinkList } from '../../../lib/categories/category-links-table.ts'
import { withDefaults } from '../../../lib/categories/content-defaults.ts'
import { type Content, createContentTable } from '../../../lib/categories/content-table.ts'
import type { CategoryId, SiteId } from '../../../lib/ids.ts'
import { openDataDirectory } from '../../../local/data-directory.ts'
import { type EmbeddedTables, embeddedTableNames, openEmbeddedTables } from '../../../local/embedded-tables.ts'

export const site = 1001 as SiteId
export const category = 5 as CategoryId
export const newsOfCategory: LinkList = { site, kind: 'news', category }

/** The tables in a directory of their own, until `close`. */
export const openStore = async (): Promise<EmbeddedTables> => {
  const path = mkdtempSync(join(tmpdir(), 'categories-'))
  const directory = openDataDirectory(path)
  const { documents, close } = await openEmbeddedTables(directory, directory.socket)
  return {
    documents,
    async close() {
      await close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** What the domain works on, over a client that may misbehave. */
export const depsOver = (client: DynamoDBDocumentClient, patience = 2_000) => ({
  content: createContentTable({ client, table: embeddedTableNames.content, patience }),
  links: createCategoryLinksTable({ client, table: embeddedTableNames.categoryLinks, patience }),
  longestList: 20_000,
})

export type Deps = ReturnType<typeof depsOver>

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

export const newsItem = (
  id: number,
  members: Readonly<Record<string, string | number | boolean | null>> = {},
): Content =>
  withDefaults('news', { id, subject: `Subject ${id}`, body: `<p>Text ${id}</p>`, ...members }, Date.UTC(2026, 0, 1))

/** A category with news items, none of them linked. */
export const fill = async ({ content }: Deps, ids: readonly number[]): Promise<void> => {
  await content.putMany(site, 'category', [{ id: category, name: 'Five' }])
  await content.putMany(
    site,
    'news',
    ids.map((id) => newsItem(id)),
  )
}

/** The objects that the category is linked with, as the table has them. */
export const linkedIds = async ({ links }: Deps, list = newsOfCategory): Promise<number[]> =>
  (await links.listConsistently(list, 0, 10_000)).map(({ id }) => id)
