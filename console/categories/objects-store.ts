import { type ReadonlySignal, signal } from '@preact/signals'
import type { SiteClient } from '../../client/src/index.ts'

export const kinds = ['news', 'blogs'] as const
export type Kind = (typeof kinds)[number]

/** A news item or a blog, as the lists show it. */
export interface Item {
  readonly id: number
  readonly title: string
  /** Without a zone, in UTC; empty where there is none. */
  readonly released: string
  readonly isDeleted: boolean
  readonly isEnabled: boolean
  /** True where the list is not of a category. */
  readonly isDisplayable: boolean
}

export type SortKey = 'title' | 'released' | 'id'

/** The visible part of a list. */
export interface Look {
  readonly search: string
  readonly sort: SortKey
  readonly isDescending: boolean
  /** From 0 on. */
  readonly page: number
}

export const pageSize = 50

export const firstLook: Look = { search: '', sort: 'released', isDescending: true, page: 0 }

// A list of a category has the members in the object, under its id.
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

/** A search is for a part of the title, and a number for the id as well. */
const whereOf = (search: string, kind: Kind, { id, title }: Words) => {
  const wanted = search.trim()
  if (wanted === '') return {}
  const byTitle = { [title[kind]]: { $contains: wanted } }
  return { where: /^\d{1,15}$/.test(wanted) ? { $or: [byTitle, { [id]: Number(wanted) }] } : byTitle }
}

const queryOf = (look: Look, kind: Kind, words: Words, limit: number) => {
  const member = { title: words.title[kind], released: 'releaseDate', id: words.id }[look.sort]
  return {
    ...whereOf(look.search, kind, words),
    order: `${look.isDescending ? '-' : ''}${member}`,
    fields: words.fields[kind],
    skip: look.page * limit,
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

export interface Page {
  readonly items: readonly Item[]
  readonly total: number
}

type Categories = SiteClient['categories']

/** A page of what is linked with a category. */
export const readLinked = async (categories: Categories, category: number, kind: Kind, look: Look): Promise<Page> => {
  const query = queryOf(look, kind, ofCategory, pageSize)
  if (kind === 'news') {
    const { items, total } = await categories.news.pageOf(category, query)
    return { items: items.map(({ objectId, news, displayable }) => itemOf(objectId, news, displayable)), total }
  }
  const { items, total } = await categories.blogs.pageOf(category, query)
  return { items: items.map(({ objectId, blog, displayable }) => itemOf(objectId, blog, displayable)), total }
}

/** A page of all that the site has of a kind. */
export const readAll = async (categories: Categories, kind: Kind, look: Look): Promise<Page> => {
  const { items, total } = await categories[kind].page(queryOf(look, kind, ofSite, pageSize))
  return { items: items.map((object) => itemOf(object.id, object)), total }
}

export const linkedAmong = async (
  categories: Categories,
  category: number,
  kind: Kind,
  ids: readonly number[],
): Promise<ReadonlySet<number>> => {
  if (ids.length === 0) return new Set()
  const query = { where: { objectId: { $in: ids } }, fields: 'objectId', skip: 0, limit: ids.length }
  const { items } = await categories[kind].pageOf(category, query)
  return new Set(items.map(({ objectId = 0 }) => objectId))
}

/** The service links and unlinks so many at once. */
const mostAtOnce = 500

/** Goes through the ids in as many requests as it takes. */
export const inChunks = async (
  ids: readonly number[],
  work: (some: readonly number[]) => Promise<void>,
): Promise<void> => {
  for (let from = 0; from < ids.length; from += mostAtOnce) await work(ids.slice(from, from + mostAtOnce))
}

/** A list of which pages are read, and items are chosen over all of them. */
export interface ListStore {
  readonly look: ReadonlySignal<Look>
  /** Undefined until it is first read. */
  readonly page: ReadonlySignal<Page | undefined>
  readonly isLoading: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<unknown>
  readonly chosen: ReadonlySignal<ReadonlyMap<number, Item>>
  /** Looks at something else. A search and another order begin on the first page. */
  show(look: Partial<Look>): Promise<void>
  /** Reads the page once more. */
  load(): Promise<void>
  choose(items: readonly Item[], isChosen: boolean): void
  clear(): void
}

export const createListStore = (read: (look: Look) => Promise<Page>, first: Look = firstLook): ListStore => {
  const look = signal(first)
  const page = signal<Page | undefined>(undefined)
  const isLoading = signal(false)
  const failure = signal<unknown>(undefined)
  const chosen = signal<ReadonlyMap<number, Item>>(new Map())
  let reads = 0

  const load = async (): Promise<void> => {
    const own = ++reads
    isLoading.value = true
    try {
      const found = await read(look.value)
      if (own !== reads) return
      const last = Math.max(0, Math.ceil(found.total / pageSize) - 1)
      if (look.value.page > last) {
        // The list has become shorter meanwhile.
        look.value = { ...look.value, page: last }
        return await load()
      }
      failure.value = undefined
      // What has not changed is not drawn anew.
      if (JSON.stringify(found) !== JSON.stringify(page.value)) page.value = found
    } catch (error) {
      if (own === reads) failure.value = error
    } finally {
      if (own === reads) isLoading.value = false
    }
  }

  return {
    look,
    page,
    isLoading,
    failure,
    chosen,
    load,
    async show(change) {
      look.value = { ...look.value, ...('page' in change ? {} : { page: 0 }), ...change }
      await load()
    },
    choose(items, isChosen) {
      const next = new Map(chosen.value)
      for (const item of items) {
        if (isChosen) next.set(item.id, item)
        else next.delete(item.id)
      }
      chosen.value = next
    },
    clear() {
      chosen.value = new Map()
    },
  }
}
