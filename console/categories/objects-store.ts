import { type ReadonlySignal, signal } from '@preact/signals'
import type { SiteClient } from '../../client/src/index.ts'
import { createNewestRead, type Work } from '../page/newest-read.ts'

export const kinds = ['news', 'blogs'] as const
export type Kind = (typeof kinds)[number]

export interface Item {
  readonly id: number
  readonly title: string
  /** In UTC, without a zone. Empty if there is no date. */
  readonly released: string
  readonly isDeleted: boolean
  readonly isEnabled: boolean
  /** Always true outside a category. */
  readonly isDisplayable: boolean
  /** Already in the category to which the user links objects. The user cannot select this item. */
  readonly isLinked?: boolean
}

export type SortKey = 'title' | 'released' | 'id'

export interface ListView {
  readonly search: string
  readonly sort: SortKey
  readonly isDescending: boolean
  readonly page: number
}

export const pageSize = 50

export const defaultView: ListView = { search: '', sort: 'released', isDescending: true, page: 0 }

// In the list of a category, the members of the object are nested.
interface Words {
  readonly id: string
  readonly title: Readonly<Record<Kind, string>>
  readonly fields: Readonly<Record<Kind, string>>
}

const ofCategory: Words = {
  id: 'objectId',
  title: { news: 'news.subject', blogs: 'blog.blogName' },
  fields: {
    news: 'objectId,displayable,news(subject,releaseDate,enabled,deleted)',
    blogs: 'objectId,displayable,blog(blogName,releaseDate,enabled)',
  },
}

const ofSite: Words = {
  id: 'id',
  title: { news: 'subject', blogs: 'blogName' },
  fields: { news: 'id,subject,releaseDate,enabled,deleted', blogs: 'id,blogName,releaseDate,enabled' },
}

/** Searches titles, and ids if the text is a number. */
const filterFor = (search: string, kind: Kind, { id, title }: Words) => {
  const wanted = search.trim()
  if (wanted === '') return {}
  const byTitle = { [title[kind]]: { $contains: wanted } }
  return { where: /^\d{1,15}$/.test(wanted) ? { $or: [byTitle, { [id]: Number(wanted) }] } : byTitle }
}

const queryOf = (view: ListView, kind: Kind, words: Words, limit: number) => {
  const member = { title: words.title[kind], released: 'releaseDate', id: words.id }[view.sort]
  return {
    ...filterFor(view.search, kind, words),
    order: `${view.isDescending ? '-' : ''}${member}`,
    fields: words.fields[kind],
    skip: view.page * limit,
    limit,
  }
}

interface Described {
  readonly id?: number
  readonly subject?: string
  readonly blogName?: string
  readonly releaseDate?: string
  readonly enabled?: boolean
  readonly deleted?: boolean
}

const itemOf = (id: number | undefined, object: Described = {}, displayable: number | undefined = 1): Item => ({
  id: id ?? object.id ?? 0,
  title: object.subject ?? object.blogName ?? '',
  released: object.releaseDate ?? '',
  isDeleted: object.deleted ?? false,
  isEnabled: object.enabled ?? true,
  isDisplayable: displayable === 1,
})

export interface ListPage {
  readonly items: readonly Item[]
  readonly total: number
}

type Categories = SiteClient['categories']

type ReadPage = (
  categories: Categories,
  category: number,
  kind: Kind,
  view: ListView,
  limit?: number,
) => Promise<ListPage>

export const readLinked: ReadPage = async (categories, category, kind, view, limit = pageSize) => {
  const query = queryOf(view, kind, ofCategory, limit)
  if (kind === 'news') {
    const { items, total } = await categories.news.pageOf(category, query)
    return { items: items.map(({ objectId, news, displayable }) => itemOf(objectId, news, displayable)), total }
  }
  const { items, total } = await categories.blogs.pageOf(category, query)
  return { items: items.map(({ objectId, blog, displayable }) => itemOf(objectId, blog, displayable)), total }
}

/** The largest number of objects that the service accepts in one request. */
const mostAtOnce = 500

/** The largest number of objects whose ids fit into the address of a request. */
const mostRead = 200

export const inChunks = async (
  ids: readonly number[],
  work: (some: readonly number[]) => Promise<void>,
  size = mostAtOnce,
): Promise<void> => {
  for (let from = 0; from < ids.length; from += size) await work(ids.slice(from, from + size))
}

/** Returns those of the objects that are in the category, with true if the category displays the object. */
export const readLinks = async (
  categories: Categories,
  category: number,
  kind: Kind,
  ids: readonly number[],
): Promise<ReadonlyMap<number, boolean>> => {
  const found = new Map<number, boolean>()
  const read = async (some: readonly number[]) => {
    const query = { where: { objectId: { $in: some } }, fields: 'objectId,displayable', skip: 0, limit: some.length }
    const { items } = await categories[kind].pageOf(category, query)
    for (const { objectId = 0, displayable } of items) found.set(objectId, displayable !== 0)
  }
  await inChunks(ids, read, mostRead)
  return found
}

/** Reads the objects of the site, except deleted ones, and marks the objects of the category. */
export const readLinkable: ReadPage = async (categories, category, kind, view, limit = pageSize) => {
  const query = queryOf(view, kind, ofSite, limit)
  const where = { ...query.where, ...(kind === 'news' && { deleted: false }) }
  const { items, total } = await categories[kind].page({ ...query, where })
  const found = items.map((object) => itemOf(object.id, object))
  const ids = found.map(({ id }) => id)
  const linked = await readLinks(categories, category, kind, ids)
  return { items: found.map((item) => ({ ...item, isLinked: linked.has(item.id) })), total }
}

export interface ObjectContent {
  readonly text: string
  readonly address: string
  readonly released: string
  readonly expires: string
  readonly changed: string
}

/** Objects without an expiry date get one of these years from the service. */
const never = /^9999/

const characters: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ndash: '–', eacute: 'é' },
  ...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß' },
}

const characterOf = (whole: string, decimal?: string, hexadecimal?: string): string => {
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  if (code <= 0x10ffff) return String.fromCodePoint(code)
  return characters[whole.slice(1, -1)] ?? whole
}

/** The words of an HTML text, without its tags. */
export const wordsOf = (html: string): string =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->|<[^>]*>/gi, ' ')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|\w+);/gi, characterOf)
    .replace(/\s+/g, ' ')
    .trim()

/** Undefined if the object was removed meanwhile. */
export const readObject = async (
  categories: Categories,
  kind: Kind,
  id: number,
): Promise<ObjectContent | undefined> => {
  const query = { where: { id }, skip: 0, limit: 1 }
  const dates = 'releaseDate,expiryDate,lastUpdateDate'
  const contentOf = (
    object: Described & { readonly expiryDate?: string; readonly lastUpdateDate?: string },
    html = '',
    address: string | null = '',
  ): ObjectContent => ({
    text: wordsOf(html),
    address: address ?? '',
    released: object.releaseDate ?? '',
    expires: never.test(object.expiryDate ?? '') ? '' : (object.expiryDate ?? ''),
    changed: object.lastUpdateDate ?? '',
  })
  if (kind === 'news') {
    const [object] = (await categories.news.page({ ...query, fields: `body,url,${dates}` })).items
    return object && contentOf(object, object.body, object.url)
  }
  const [object] = (await categories.blogs.page({ ...query, fields: `blogDescription,blogUrl,${dates}` })).items
  return object && contentOf(object, object.blogDescription, object.blogUrl)
}

/** A list that is read in pages. The selection can contain items of several pages. */
export interface ListStore {
  readonly view: ReadonlySignal<ListView>
  readonly page: ReadonlySignal<ListPage | undefined>
  readonly isLoading: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<unknown>
  readonly chosen: ReadonlySignal<ReadonlyMap<number, Item>>
  /** Shows another part of the list. A new search or order starts on the first page. */
  show(view: Partial<ListView>): Promise<void>
  load(): Promise<void>
  /** Lets a running read end first. */
  loadLater(): Promise<void>
  choose(items: readonly Item[], isChosen: boolean): void
  /** Also selects the items of all other pages. */
  chooseAll(): Promise<void>
  clear(): void
}

const partOf = (view: ListView): string => JSON.stringify({ ...view, page: 0 })

export const createListStore = (
  read: (view: ListView, limit: number) => Promise<ListPage>,
  first: ListView = defaultView,
): ListStore => {
  const view = signal(first)
  const page = signal<ListPage>()
  const { isLoading, failure, run, runLater } = createNewestRead()
  const chosen = signal<ReadonlyMap<number, Item>>(new Map())
  let choices = 0

  const readPage: Work = async (isNewest) => {
    const found = await read(view.value, pageSize)
    if (!isNewest()) return
    const last = Math.max(0, Math.ceil(found.total / pageSize) - 1)
    if (view.value.page > last) {
      view.value = { ...view.value, page: last }
      return load()
    }
    failure.value = undefined
    // Unchanged items keep their identity, so that they are not drawn again.
    if (JSON.stringify(found) !== JSON.stringify(page.value)) page.value = found
  }
  const load = () => run(readPage)

  const choose = (items: readonly Item[], isChosen: boolean) => {
    const next = new Map(chosen.value)
    for (const item of items) {
      if (!isChosen) next.delete(item.id)
      else if (!item.isLinked) next.set(item.id, item)
    }
    chosen.value = next
  }

  return {
    view,
    page,
    isLoading,
    failure,
    chosen,
    load,
    loadLater: () => runLater(readPage),
    async show(change) {
      view.value = { ...view.value, ...('page' in change ? {} : { page: 0 }), ...change }
      await load()
    },
    choose,
    async chooseAll() {
      const own = ++choices
      const asked = view.value
      const isWanted = () => own === choices && partOf(asked) === partOf(view.value)
      const items: Item[] = []
      for (let number = 0, total = 1; number * mostRead < total && isWanted(); number++) {
        const found = await read({ ...asked, page: number }, mostRead)
        items.push(...found.items)
        total = found.total
      }
      if (isWanted()) choose(items, true)
    },
    clear() {
      choices++
      chosen.value = new Map()
    },
  }
}
