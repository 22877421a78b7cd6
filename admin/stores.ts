import { createTokensTable, type TokensTable } from '../lib/access/tokens-table.ts'
import { type CategoryLinksTable, createCategoryLinksTable } from '../lib/categories/category-links-table.ts'
import { type ContentTable, createContentTable } from '../lib/categories/content-table.ts'
import { createWebFormsTable, type WebFormsTable } from '../lib/fields/web-forms-table.ts'
import type { SiteId } from '../lib/ids.ts'
import type { Site } from '../lib/sites/site.ts'
import { createSitesTable, type SitesTable } from '../lib/sites/sites-table.ts'
import { createPagesTable, type PagesTable } from '../lib/storage/pages-table.ts'
import { embeddedTableNames } from '../local/embedded-tables.ts'
import { openTables } from '../local/open-tables.ts'
import { Refusal } from './refusal.ts'

/** The tables of one data centre. */
export interface AreaStores {
  readonly webForms: WebFormsTable
  readonly content: ContentTable
  readonly links: CategoryLinksTable
  readonly pages: PagesTable
}

/** What the commands work on. */
export interface Stores {
  readonly sites: SitesTable
  readonly tokens: TokensTable
  /** The tables of the data centre where a site lives. */
  areas(site: Site): Promise<AreaStores>
  close(): Promise<void>
}

/** The stores in a local data directory, in which all data centres share the tables. */
export const openLocalStores = async (dataDirectory: string): Promise<Stores> => {
  const { documents, close } = await openTables(dataDirectory)
  const areas: AreaStores = {
    webForms: createWebFormsTable(documents, embeddedTableNames.webForms),
    content: createContentTable({ client: documents, table: embeddedTableNames.content }),
    links: createCategoryLinksTable({ client: documents, table: embeddedTableNames.categoryLinks }),
    pages: createPagesTable(documents, embeddedTableNames.pages),
  }
  return {
    sites: createSitesTable(documents, embeddedTableNames.sites),
    tokens: createTokensTable(documents, embeddedTableNames.tokens),
    areas: async () => areas,
    close,
  }
}

/** The site of that id. Throws a Refusal when there is none. */
export const siteOf = async ({ sites }: Stores, id: SiteId): Promise<Site> => {
  const site = await sites.getSite(id)
  if (!site) throw new Refusal(`There is no site ${id}. "site list" shows those that there are.`)
  return site
}
