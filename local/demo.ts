import { Readable } from 'node:stream'
import { hashToken, isCurrent, issueGrant, newToken, permissions } from '../lib/access/grants.ts'
import { roles } from '../lib/access/people.ts'
import type { Content } from '../lib/categories/contents.ts'
import { type ObjectKind, objectKindNames, withDefaults } from '../lib/core/content-kinds.ts'
import type { ChangeType, HistoryEntry } from '../lib/core/history-entry.ts'
import type { CategoryId, SiteId, WebFormId } from '../lib/core/ids.ts'
import { unlimited } from '../lib/core/time.ts'
import { type Demo, type KnownDemo, readDemo, writeDemo } from '../lib/machine/directory/demo-file.ts'
import type { Machine } from '../lib/machine/machine.ts'
import type { Stores } from '../lib/service/stores.ts'
import { putFile } from '../lib/storage/changes/put.ts'
import { toStoragePath } from '../lib/storage/path.ts'

const categories = [
  { id: 1, name: 'Company', words: ['opens an office', 'welcomes a new colleague', 'publishes its annual report'] },
  { id: 2, name: 'Products', words: ['ships a new release', 'retires an old version', 'wins an award'] },
  { id: 3, name: 'Events', words: ['invites to a workshop', 'speaks at a conference', 'celebrates its anniversary'] },
] as const

const places = ['Bucharest', 'San Jose', 'Sydney', 'Hamburg', 'Bangalore', 'London', 'Tokyo'] as const

const choose = <Values extends readonly [unknown, ...unknown[]]>(values: Values, index: number): Values[number] =>
  values[index % values.length] ?? values[0]

const day = (year: number, dayOfYear: number): string =>
  new Date(Date.UTC(year, 0, dayOfYear, 9)).toISOString().slice(0, 19)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

// The dates cover two years. Every tenth item has expired, and some are deleted, switched off or weighted, so that
// every filter finds items.
const news = (id: number): Content => {
  const category = choose(categories, id)
  const subject = `${choose(places, id)} ${choose(category.words, Math.floor(id / 3))}`
  const releaseDate = day(2025, id * 17)
  return withDefaults(
    'news',
    {
      id,
      subject,
      body: `<p>${subject}. This is item ${id} of the demo site.</p>`,
      createDate: day(2025, id * 17 - 3),
      releaseDate,
      weight: id % 4 === 0 ? id : null,
      deleted: id % 13 === 0,
      enabled: id % 11 !== 0,
      displayable: id % 7 !== 0,
      ...(id % 10 === 0 && { expiryDate: day(2026, id) }),
    },
    Date.parse(`${releaseDate}Z`),
  )
}

const blog = (id: number): Content =>
  withDefaults(
    'blog',
    {
      id,
      blogName: `Notes from ${choose(places, id)}`,
      blogDescription: `What happens in ${choose(places, id)}`,
      postCount: id * 5,
      lastPostDate: day(2026, id * 21),
      disableComments: id % 3 === 0,
      slug: `notes-${id}`,
      blogUrl: `/blogs/notes-${id}`,
    },
    Date.UTC(2025, 0, id),
  )

interface DemoObjects {
  readonly count: number
  readonly objectOf: (id: number) => Content
  readonly isIn: (id: number, category: number) => boolean
  readonly isDisplayable: (id: number) => boolean
}

const isInOne = (id: number, category: number) => id % categories.length === category

const demoObjects: Partial<Record<ObjectKind, Partial<DemoObjects>>> = {
  news: {
    count: 40,
    objectOf: news,
    isIn: (id, category) => isInOne(id, category) || id % 8 === category,
    isDisplayable: (id) => id % 5 !== 0,
  },
  blog: { objectOf: blog },
}

// The kinds without demo data get the examples of the OpenAPI document.
const plainObjects = (kind: ObjectKind): DemoObjects => ({
  count: 8,
  objectOf: (id) => withDefaults(kind, { id }, Date.UTC(2025, 0, id)),
  isIn: isInOne,
  isDisplayable: () => true,
})

const demoCategories: readonly CategoryId[] = categories.map(({ id }) => id as CategoryId)

const author = { actor: 'npm start' }

const entryOf = (site: SiteId, type: ChangeType, subject: string): HistoryEntry => ({ ...author, site, type, subject })

const storeDemoCategories = async ({ contents, links }: Stores, site: SiteId): Promise<void> => {
  const rows = categories.map(({ id, name }) => ({ id, name }))
  await contents.putMany(site, 'category', rows, entryOf(site, 'content.imported', 'category'))
  for (const kind of objectKindNames) {
    const { count, objectOf, isIn, isDisplayable } = { ...plainObjects(kind), ...demoObjects[kind] }
    await contents.putMany(site, kind, numbers(count).map(objectOf), entryOf(site, 'content.imported', kind))
    for (const [index, category] of demoCategories.entries()) {
      const ids = numbers(count).filter((id) => isIn(id, index))
      const wanted = new Map(ids.map((id) => [id, isDisplayable(id)]))
      await links.link({ site, kind, category }, wanted, entryOf(site, 'link.added', `category/${category}/${kind}`))
    }
  }
}

const forms = [
  { id: 1 as WebFormId, name: 'Contact us', typeIds: [-2, -3, -20, -400], optional: [-20] },
  { id: 2 as WebFormId, name: 'Newsletter', typeIds: [-3, -7], optional: [-7] },
]

// The demo token belongs to one data directory and never expires.
const tenYears = 10 * 365 * 24 * 3600

// The examples of the reference page read and delete these files.
const demoFiles: Readonly<Record<string, string>> = { 'hello.txt': 'Hello\n', 'old/notice.txt': 'This may go.\n' }

const storeDemoFiles = async (stores: Stores, site: SiteId): Promise<void> => {
  const scope = { site, rights: roles.owner.rights, level: 'write' } as const
  const requester = { ...scope, author, deadline: unlimited, conditions: {} }
  for (const [path, text] of Object.entries(demoFiles)) {
    const file = { contentType: undefined, content: Readable.from([Buffer.from(text)]) }
    await putFile({ ...stores, largestFile: text.length }, { path: toStoragePath(path) }, file, requester)
  }
}

// If the first start is interrupted, the next start repeats all of this.
const storeDemoContents = async (stores: Stores, site: SiteId) => {
  for (const { id, name, typeIds, optional } of forms) {
    const fields = typeIds.map((typeId, index) => ({ typeId, mandatory: !optional.includes(typeId), order: index + 1 }))
    await stores.webForms.create({ site, id, name, fields }, entryOf(site, 'form.created', `form/${id}`))
  }
  await storeDemoCategories(stores, site)
  await storeDemoFiles(stores, site)
}

const grant = async ({ grants }: Stores, { siteId, token }: Demo): Promise<void> => {
  const expires = Math.floor(Date.now() / 1000) + tenYears
  await issueGrant(grants, { user: 'demo', sites: [siteId], permissions, expires }, author, token)
}

const works = async ({ grants }: Stores, { siteId, token }: Demo): Promise<boolean> => {
  const found = await grants.get(hashToken(token))
  return found !== undefined && isCurrent(found, Date.now()) && found.sites.includes(siteId)
}

interface DemoDeps extends Pick<Machine, 'directory' | 'stores'> {
  readonly dataCentre: string
  readonly say: (sentence: string) => void
}

const newDemo = (): Demo => ({
  siteId: 1001 as SiteId,
  webFormId: 1 as WebFormId,
  categoryIds: demoCategories,
  token: newToken(),
})

// The site is created last: if it exists, its token exists too. A site of this id without the demo token is not the
// demo.
const makeDemo = async ({ directory, stores, dataCentre }: DemoDeps, demo: Demo): Promise<Demo> => {
  const { siteId: id } = demo
  writeDemo(directory, demo, 'begun')
  await storeDemoContents(stores, id)
  await grant(stores, demo)
  const site = { id, name: 'Demo site', dataCentre, renderingEngine: true }
  await stores.sites.createSite(site, entryOf(id, 'site.created', `site/${id}`))
  writeDemo(directory, demo, 'made')
  return demo
}

const continueDemo = async (deps: DemoDeps, { state, ...demo }: KnownDemo): Promise<Demo | undefined> => {
  const { directory, stores, say } = deps
  if (state === 'removed') return undefined
  const isThere = (await stores.sites.getSite(demo.siteId)) !== undefined
  if (!isThere && state === 'begun') return makeDemo(deps, demo)
  if (isThere && (await works(stores, demo))) {
    if (state !== 'made') writeDemo(directory, demo, 'made')
    return demo
  }
  if (isThere && state === 'made') {
    const renewed = { ...demo, token: newToken() }
    await grant(stores, renewed)
    say('The demo token was revoked or has expired. A new one replaces it.')
    writeDemo(directory, renewed, 'made')
    return renewed
  }
  writeDemo(directory, demo, 'removed')
  return undefined
}

/**
 * The first start creates the demo. Its token works as long as the demo site exists. If the token was revoked, issues
 * another one. Undefined if the demo site was removed or if no file describes it, because no other site may get a
 * token, not even a removed site, whose files can be restored. Throws UsageError when this file cannot be read.
 */
export const ensureDemo = async (deps: DemoDeps): Promise<Demo | undefined> => {
  const { directory, stores } = deps
  const known = readDemo(directory)
  if (known) return continueDemo(deps, known)
  const demo = newDemo()
  const { sites } = await stores.sites.list()
  const isNewId = sites.length === 0 && (await stores.history.after(demo.siteId, 0, 1)).length === 0
  return isNewId ? makeDemo(deps, demo) : undefined
}
