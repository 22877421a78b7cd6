import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hashToken, newToken, permissions } from '../lib/access/token.ts'
import type { TokensTable } from '../lib/access/tokens-table.ts'
import type { CategoryLinksTable } from '../lib/categories/category-links-table.ts'
import type { ContentTable } from '../lib/categories/content-table.ts'
import type { SystemField } from '../lib/fields/web-form.ts'
import type { WebFormsTable } from '../lib/fields/web-forms-table.ts'
import type { CategoryId, SiteId, WebFormId } from '../lib/ids.ts'
import type { SitesTable } from '../lib/sites/sites-table.ts'
import type { DataDirectory } from './data-directory.ts'
import { demoCategories, storeDemoCategories } from './demo-categories.ts'

/** What a first start leaves behind for people and programs to try the service with. */
export interface Demo {
  readonly siteId: SiteId
  readonly webFormId: WebFormId
  readonly categoryIds: readonly CategoryId[]
  readonly token: string
}

interface Tables {
  readonly sites: SitesTable
  readonly tokens: TokensTable
  readonly webForms: WebFormsTable
  readonly content: ContentTable
  readonly links: CategoryLinksTable
}

const demoSite = 1001 as SiteId

const forms: readonly { id: WebFormId; name: string; fields: readonly SystemField[] }[] = [
  {
    id: 1 as WebFormId,
    name: 'Contact us',
    fields: [
      { typeId: -2, mandatory: true, order: 1 },
      { typeId: -3, mandatory: true, order: 2 },
      { typeId: -20, mandatory: false, order: 3 },
      { typeId: -400, mandatory: true, order: 4 },
    ],
  },
  {
    id: 2 as WebFormId,
    name: 'Newsletter',
    fields: [
      { typeId: -3, mandatory: true, order: 1 },
      { typeId: -7, mandatory: false, order: 2 },
    ],
  },
]

/** The demo token belongs to one machine's data directory and is meant to go on working there. */
const tenYears = 10 * 365 * 24 * 3600

const readDemo = ({ demo }: DataDirectory): Demo | undefined => {
  try {
    return JSON.parse(readFileSync(demo, 'utf8')) as Demo
  } catch {
    return undefined
  }
}

/** Written last and in one piece, so that a start that is cut short is simply done again. */
const writeDemo = ({ demo: file }: DataDirectory, demo: Demo): void => {
  writeFileSync(`${file}.new`, `${JSON.stringify(demo)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** The demo of a data directory; made on its first start. */
export const ensureDemo = async (directory: DataDirectory, tables: Tables, dataCentre: string): Promise<Demo> => {
  const existing = readDemo(directory)
  if (existing) return existing
  const { sites, tokens, webForms } = tables
  const demo: Demo = {
    siteId: demoSite,
    webFormId: 1 as WebFormId,
    categoryIds: demoCategories,
    token: newToken(),
  }
  await Promise.all([
    sites.createSite({ id: demoSite, name: 'Demo site', dataCentre, renderingEngine: true }),
    ...forms.map((form) => webForms.create({ site: demoSite, ...form })),
    storeDemoCategories(tables, demoSite),
    tokens.put({
      hash: hashToken(demo.token),
      user: 'demo',
      sites: [demoSite],
      permissions,
      expires: Math.floor(Date.now() / 1000) + tenYears,
    }),
  ])
  writeDemo(directory, demo)
  return demo
}
