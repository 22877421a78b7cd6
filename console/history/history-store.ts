import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Change, ChangeType, SiteClient } from '../../client/src/index.ts'
import { join } from '../uploads/paths.ts'

export const groups = ['files', 'fields', 'links', 'site'] as const
export type Group = (typeof groups)[number]

export const groupOf = (type: ChangeType): Group => {
  const [thing] = type.split('.')
  if (thing === 'file' || thing === 'folder' || thing === 'workflow') return 'files'
  if (thing === 'field' || thing === 'form') return 'fields'
  if (thing === 'link' || thing === 'category' || thing === 'object') return 'links'
  return 'site'
}

/** An empty member of the filter matches everything. */
export interface Filter {
  /** A group of types, or a single type. Empty for all types. */
  readonly what: string
  readonly who: string
  /** The text with which the subject begins. */
  readonly where: string
}

const noFilter: Filter = { what: '', who: '', where: '' }

/** Reading older changes asks for at most this many pages, if none of them contains a wanted change. */
const mostPages = 10

export interface HistoryStore {
  readonly filter: ReadonlySignal<Filter>
  /** Newest first; undefined until the first read. */
  readonly changes: ReadonlySignal<readonly Change[] | undefined>
  readonly actors: ReadonlySignal<readonly string[]>
  /** True if there are older changes that were not read yet. */
  readonly hasMore: ReadonlySignal<boolean>
  /** The number of known changes, of all users. */
  readonly known: ReadonlySignal<number>
  readonly isLoading: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<{ readonly error: unknown; readonly repeat: () => void } | undefined>
  setFilter(filter: Partial<Filter>): Promise<void>
  load(): Promise<void>
  readOlder(): Promise<void>
  /** Adds new changes, oldest first. */
  receive(changes: readonly Change[]): void
}

interface Deps {
  readonly changes: Pick<SiteClient['changes'], 'page'>
  readonly types: readonly ChangeType[]
  readonly filter?: Filter
}

const typesOf = ({ what }: Filter, all: readonly ChangeType[]): readonly ChangeType[] | undefined =>
  what === '' ? undefined : all.filter((type) => type === what || groupOf(type) === what)

/** People write paths with a leading slash, but the service has none. */
const subjectOf = ({ where }: Filter): string => where.trim().replace(/^\/+/, '').normalize('NFC')

const queryOf = (filter: Filter, all: readonly ChangeType[]) => {
  const types = typesOf(filter, all)
  const subject = subjectOf(filter)
  return { ...(types && { types }), ...(subject !== '' && { subject }) }
}

const isWanted = ({ type, subject, details }: Change, filter: Filter, all: readonly ChangeType[]): boolean => {
  const paths = [subject, details?.to ?? subject, ...(details?.names ?? []).map((name) => join(subject, name))]
  const isThere = paths.some((path) => `${path}/`.startsWith(subjectOf(filter)))
  return isThere && (typesOf(filter, all)?.includes(type) ?? true)
}

const isBy = ({ actor }: Change, { who }: Filter): boolean => who === '' || actor === who

export const createHistoryStore = ({ changes: source, types: all, ...given }: Deps): HistoryStore => {
  const filter = signal(given.filter ?? noFilter)
  const found = signal<readonly Change[]>()
  const next = signal<string>()
  const isLoading = signal(false)
  const failure = signal<HistoryStore['failure']['value']>(undefined)
  // The service cannot filter by user, so the page does it.
  const changes = computed(() => found.value?.filter((change) => isBy(change, filter.value)))
  let reads = 0
  // Changes that arrived during the running read. The answer of this read may lack them.
  let missed: readonly Change[] = []

  const addNewest = (news: readonly Change[]) => {
    const known = new Set(found.value?.map(({ id }) => id))
    const added = news.filter((change) => isWanted(change, filter.value, all) && !known.has(change.id))
    if (found.value && added.length > 0) found.value = [...added.toReversed(), ...found.value]
  }

  /** Reads pages after a change, until a page contains a wanted change. */
  const readPages = async (from: string | undefined, own: number): Promise<void> => {
    let before = from
    for (let pages = 1; isLoading.value; pages++) {
      const page = await source.page({ ...queryOf(filter.value, all), ...(before !== undefined && { before }) })
      if (own !== reads) return
      const isEnough = page.next === undefined || page.items.some((change) => isBy(change, filter.value))
      batch(() => {
        failure.value = undefined
        found.value = before === undefined ? page.items : [...(found.value ?? []), ...page.items]
        next.value = page.next
        if (before === undefined) addNewest(missed)
        isLoading.value = !isEnough && pages < mostPages
      })
      before = page.next
    }
  }

  const read = async (from: string | undefined): Promise<void> => {
    const own = ++reads
    missed = []
    isLoading.value = true
    try {
      await readPages(from, own)
    } catch (error) {
      if (own !== reads) return
      failure.value = { error, repeat: () => read(from) }
      isLoading.value = false
    }
  }

  const load = () => read(undefined)

  return {
    filter,
    changes,
    actors: computed(() => [...new Set(found.value?.map(({ actor }) => actor))].toSorted()),
    hasMore: computed(() => next.value !== undefined),
    known: computed(() => found.value?.length ?? 0),
    isLoading,
    failure,
    load,
    async readOlder() {
      if (next.value !== undefined && !isLoading.value) await read(next.value)
    },
    async setFilter(change) {
      const before = filter.value
      filter.value = { ...before, ...change }
      if (filter.value.what === before.what && filter.value.where === before.where) return
      batch(() => {
        found.value = undefined
        next.value = undefined
      })
      await load()
    },
    receive(news) {
      if (isLoading.value) missed = [...missed, ...news]
      addNewest(news)
    },
  }
}
