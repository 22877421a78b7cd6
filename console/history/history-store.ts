import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Change, ChangeType, SiteClient } from '../../client/src/index.ts'

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
  /** A group of types, or a single type. */
  readonly what: string
  readonly who: string
  /** The beginning of the subject. */
  readonly where: string
}

const noFilter: Filter = { what: '', who: '', where: '' }

const largestPage = 500

const mostChanges = 20_000

export interface HistoryStore {
  readonly filter: ReadonlySignal<Filter>
  /** Newest first; undefined until the first read. */
  readonly changes: ReadonlySignal<readonly Change[] | undefined>
  readonly actors: ReadonlySignal<readonly string[]>
  /** Older changes exist but are not shown. */
  readonly isLimited: ReadonlySignal<boolean>
  /** Known changes of all users. */
  readonly known: ReadonlySignal<number>
  readonly isLoading: ReadonlySignal<boolean>
  readonly readCount: ReadonlySignal<number | undefined>
  readonly failure: ReadonlySignal<unknown>
  /** Reads the whole history, oldest first, until the end or a new filter. */
  readAll(): Promise<void>
  setFilter(filter: Partial<Filter>): Promise<void>
  load(): Promise<void>
  /** Adds new changes, oldest first. */
  receive(changes: readonly Change[]): void
}

interface Deps {
  readonly changes: Pick<SiteClient['changes'], 'list' | 'newest'>
  readonly types: readonly ChangeType[]
  readonly filter?: Filter
}

const typesOf = ({ what }: Filter, all: readonly ChangeType[]): readonly ChangeType[] | undefined =>
  what === '' ? undefined : all.filter((type) => type === what || groupOf(type) === what)

/** People write paths with a leading slash, but the service has none. */
const subjectOf = ({ where }: Filter): string => where.trim().replace(/^\/+/, '')

const queryOf = (filter: Filter, all: readonly ChangeType[]) => {
  const types = typesOf(filter, all)
  const subject = subjectOf(filter)
  return { ...(types && { types }), ...(subject !== '' && { subject }) }
}

const isWanted = ({ type, subject }: Change, filter: Filter, all: readonly ChangeType[]): boolean =>
  (typesOf(filter, all)?.includes(type) ?? true) && subject.startsWith(subjectOf(filter))

/** Keeps the newest changes and counts all. Returns undefined if another read started in between. */
const readWhole = async (
  changes: AsyncIterable<Change>,
  isNewest: () => boolean,
  readCount: Signal<number | undefined>,
): Promise<{ readonly read: readonly Change[]; readonly count: number } | undefined> => {
  let read: Change[] = []
  let count = 0
  for await (const change of changes) {
    if (!isNewest()) return undefined
    read.push(change)
    count++
    if (count % largestPage === 0) readCount.value = count
    if (read.length === 2 * mostChanges) read = read.slice(mostChanges)
  }
  return isNewest() ? { read, count } : undefined
}

export const createHistoryStore = ({ changes: source, types: all, ...given }: Deps): HistoryStore => {
  const filter = signal(given.filter ?? noFilter)
  const found = signal<readonly Change[] | undefined>(undefined)
  const isLimited = signal(false)
  const isLoading = signal(false)
  const readCount = signal<number | undefined>(undefined)
  const failure = signal<unknown>(undefined)
  let reads = 0
  // These changes arrived during the read, which may return older ones.
  let missed: readonly Change[] = []

  const addNewest = (news: readonly Change[]) => {
    const known = new Set(found.value?.map(({ id }) => id))
    const added = news.filter((change) => isWanted(change, filter.value, all) && !known.has(change.id))
    if (found.value && added.length > 0) found.value = [...added.toReversed(), ...found.value].slice(0, mostChanges)
  }

  const load = async (): Promise<void> => {
    const own = ++reads
    missed = []
    isLoading.value = true
    readCount.value = undefined
    try {
      const newest = await source.newest(largestPage, queryOf(filter.value, all))
      if (own !== reads) return
      failure.value = undefined
      isLimited.value = newest.length >= largestPage
      found.value = newest.toReversed()
      addNewest(missed)
    } catch (error) {
      if (own === reads) failure.value = error
    } finally {
      if (own === reads) isLoading.value = false
    }
  }

  const readAll = async (): Promise<void> => {
    const own = ++reads
    missed = []
    readCount.value = 0
    failure.value = undefined
    try {
      const isNewest = () => own === reads
      const whole = await readWhole(source.list(queryOf(filter.value, all)), isNewest, readCount)
      if (!whole) return
      found.value = whole.read.slice(-mostChanges).toReversed()
      isLimited.value = whole.count > mostChanges
      addNewest(missed)
    } catch (error) {
      if (own === reads) failure.value = error
    }
    if (own === reads) readCount.value = undefined
  }

  return {
    filter,
    readAll,
    readCount,
    changes: computed(() => {
      const { who } = filter.value
      return who === '' ? found.value : found.value?.filter(({ actor }) => actor === who)
    }),
    actors: computed(() => [...new Set(found.value?.map(({ actor }) => actor))].toSorted()),
    isLimited,
    known: computed(() => found.value?.length ?? 0),
    isLoading,
    failure,
    load,
    async setFilter(change) {
      const before = filter.value
      filter.value = { ...before, ...change }
      // The service cannot filter by user, so the page does it.
      if (filter.value.what !== before.what || filter.value.where !== before.where) await load()
    },
    receive(news) {
      if (isLoading.value || readCount.value !== undefined) missed = [...missed, ...news]
      addNewest(news)
    },
  }
}
