import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Change, ChangeType, SiteClient } from '../../client/src/index.ts'

export const groups = ['files', 'fields', 'links', 'site'] as const
export type Group = (typeof groups)[number]

/** The group of a change type. */
export const groupOf = (type: ChangeType): Group => {
  const [thing] = type.split('.')
  if (thing === 'file' || thing === 'folder' || thing === 'workflow') return 'files'
  if (thing === 'field' || thing === 'form') return 'fields'
  if (thing === 'link' || thing === 'category' || thing === 'object') return 'links'
  return 'site'
}

/** An empty member does not filter. */
export interface Filter {
  /** A group, or a type alone. */
  readonly what: string
  readonly who: string
  /** The beginning of the subject. */
  readonly where: string
}

const noFilter: Filter = { what: '', who: '', where: '' }

/** The service gives so many of the newest at the most. */
const newestAtOnce = 500

/** So many are kept when all of them are read: the newest. */
const most = 20_000

export interface HistoryStore {
  readonly filter: ReadonlySignal<Filter>
  /** The newest first; undefined until they are first read. */
  readonly changes: ReadonlySignal<readonly Change[] | undefined>
  /** Those who have made the changes that are known, sorted. */
  readonly actors: ReadonlySignal<readonly string[]>
  /** Older changes exist but are not shown. */
  readonly isLimited: ReadonlySignal<boolean>
  /** Known changes of all users. */
  readonly known: ReadonlySignal<number>
  readonly isLoading: ReadonlySignal<boolean>
  /** Read so far, while everything is read. */
  readonly readSoFar: ReadonlySignal<number | undefined>
  readonly failure: ReadonlySignal<unknown>
  /** Reads all that the service keeps, the oldest first, until that is done or something else is asked for. */
  readAll(): Promise<void>
  narrow(filter: Partial<Filter>): Promise<void>
  load(): Promise<void>
  /** Takes in what has just happened, the oldest first. */
  receive(changes: readonly Change[]): void
}

interface Deps {
  readonly changes: SiteClient['changes']
  readonly types: readonly ChangeType[]
  readonly filter?: Filter
}

/** The types that a filter lets through; undefined where it lets all of them. */
const typesOf = ({ what }: Filter, all: readonly ChangeType[]): readonly ChangeType[] | undefined =>
  what === '' ? undefined : all.filter((type) => type === what || groupOf(type) === what)

/** Paths are written with a slash in front by people, and without one by the service. */
const subjectOf = ({ where }: Filter): string => where.trim().replace(/^\/+/, '')

const queryOf = (filter: Filter, all: readonly ChangeType[]) => {
  const types = typesOf(filter, all)
  const subject = subjectOf(filter)
  return { ...(types && { types }), ...(subject !== '' && { subject }) }
}

const isWanted = ({ type, subject }: Change, filter: Filter, all: readonly ChangeType[]): boolean =>
  (typesOf(filter, all)?.includes(type) ?? true) && subject.startsWith(subjectOf(filter))

/** Keeps the newest changes and counts all. Undefined when another read has begun meanwhile. */
const readWhole = async (
  changes: AsyncIterable<Change>,
  isNewest: () => boolean,
  readSoFar: Signal<number | undefined>,
): Promise<{ readonly read: readonly Change[]; readonly count: number } | undefined> => {
  let read: Change[] = []
  let count = 0
  for await (const change of changes) {
    if (!isNewest()) return undefined
    read.push(change)
    count++
    if (count % newestAtOnce === 0) readSoFar.value = count
    if (read.length === 2 * most) read = read.slice(most)
  }
  return isNewest() ? { read, count } : undefined
}

export const createHistoryStore = ({ changes: source, types: all, ...given }: Deps): HistoryStore => {
  const filter = signal(given.filter ?? noFilter)
  const found = signal<readonly Change[] | undefined>(undefined)
  const isLimited = signal(false)
  const isLoading = signal(false)
  const readSoFar = signal<number | undefined>(undefined)
  const failure = signal<unknown>(undefined)
  let reads = 0
  // Changes that arrived during the read, which may return older ones.
  let missed: readonly Change[] = []

  const takeIn = (news: readonly Change[]) => {
    const known = new Set(found.value?.map(({ id }) => id))
    const added = news.filter((change) => isWanted(change, filter.value, all) && !known.has(change.id))
    if (found.value && added.length > 0) found.value = [...added.toReversed(), ...found.value].slice(0, most)
  }

  const load = async (): Promise<void> => {
    const own = ++reads
    missed = []
    isLoading.value = true
    readSoFar.value = undefined
    try {
      const newest = await source.newest(newestAtOnce, queryOf(filter.value, all))
      if (own !== reads) return
      failure.value = undefined
      isLimited.value = newest.length >= newestAtOnce
      found.value = newest.toReversed()
      takeIn(missed)
    } catch (error) {
      if (own === reads) failure.value = error
    } finally {
      if (own === reads) isLoading.value = false
    }
  }

  const readAll = async (): Promise<void> => {
    const own = ++reads
    missed = []
    readSoFar.value = 0
    failure.value = undefined
    try {
      const isNewest = () => own === reads
      const whole = await readWhole(source.list(queryOf(filter.value, all)), isNewest, readSoFar)
      if (!whole) return
      found.value = whole.read.slice(-most).toReversed()
      isLimited.value = whole.count > most
      takeIn(missed)
    } catch (error) {
      if (own === reads) failure.value = error
    }
    if (own === reads) readSoFar.value = undefined
  }

  return {
    filter,
    readAll,
    readSoFar,
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
    async narrow(change) {
      const before = filter.value
      filter.value = { ...before, ...change }
      // Who made them is told apart here: the service does not.
      if (filter.value.what !== before.what || filter.value.where !== before.where) await load()
    },
    receive(news) {
      if (isLoading.value || readSoFar.value !== undefined) missed = [...missed, ...news]
      takeIn(news)
    },
  }
}
