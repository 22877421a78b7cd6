import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Change, FolderContent, SiteClient } from '../../client/src/index.ts'
import { createNewestRead } from '../page/newest-read.ts'
import { isWithin, parentOf, partsOf } from '../uploads/paths.ts'
import { arrange, type Column, type Order } from './arrange.ts'
import { choose, chooseAll, nothing, retain, type Selection, type SelectionMode, step } from './selection.ts'

export interface Folder {
  /** After the first answer, in the spelling of the site: reads ignore case, but uploads would make a second folder. */
  readonly path: ReadonlySignal<string>
  /** Undefined before the first answer. */
  readonly entries: ReadonlySignal<readonly FolderContent[] | undefined>
  readonly isLoading: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<unknown>
  readonly order: ReadonlySignal<Order>
  readonly shown: ReadonlySignal<readonly FolderContent[]>
  readonly selection: ReadonlySignal<Selection>
  readonly chosen: ReadonlySignal<readonly FolderContent[]>
  /** Opens a folder. Selects the entry `active`, if the folder contains it. */
  open(path: string, active?: string): Promise<void>
  /** Keeps the selection, and shows the old entries until the answer arrives. */
  refresh(): Promise<void>
  /** Like `refresh`, but after a running read. */
  refreshLater(): Promise<void>
  /** Calling this twice with the same column reverses the order. */
  sortBy(column: Column): void
  choose(name: string, manner: SelectionMode): void
  step(by: number, manner: SelectionMode): void
  chooseAll(): void
  clearSelection(): void
  /** Selects the next row whose name starts with the text. */
  seek(text: string): void
}

/** True if the changes may concern the folder. `known` are the shown names. */
export const affectsFolder = (changes: readonly Change[], path: string, known: ReadonlySet<string>): boolean => {
  const isNear = (place: string) =>
    parentOf(place) === path ||
    place === path ||
    (place !== '' && isWithin(path, place)) ||
    // A change in a subfolder matters only if the list does not show the subfolder yet.
    (isWithin(place, path) && !known.has(partsOf(place)[partsOf(path).length] ?? ''))
  return changes.some(
    ({ type, subject, details }) =>
      /^(file|folder|workflow|content)\./.test(type) &&
      [subject, ...Object.values(details ?? {})].some((place) => typeof place === 'string' && isNear(place)),
  )
}

const readWhile = async (
  pages: AsyncIterable<FolderContent>,
  isWanted: () => boolean,
): Promise<readonly FolderContent[] | undefined> => {
  const found: FolderContent[] = []
  for await (const entry of pages) {
    if (!isWanted()) return undefined
    found.push(entry)
  }
  return isWanted() ? found : undefined
}

const nameStartingWith = (text: string, names: readonly string[], active: string | undefined): string | undefined => {
  const wanted = text.toLowerCase()
  const now = names.indexOf(active ?? '')
  // A repeated letter moves from row to row. A longer text may also match the active row.
  const start = text.length === 1 ? now + 1 : Math.max(0, now)
  const order = [...names.slice(start), ...names.slice(0, start)]
  return order.find((name) => name.toLowerCase().startsWith(wanted))
}

interface FolderOptions {
  readonly client: () => SiteClient
  /** Other views of the folder also get the entries of each read. */
  readonly onRead?: (path: string, entries: readonly FolderContent[]) => void
}

export const createFolder = ({ client, onRead }: FolderOptions): Folder => {
  const path = signal('')
  const entries = signal<readonly FolderContent[]>()
  const { isLoading, failure, run, runLater } = createNewestRead()
  const order = signal<Order>({ column: 'name', isDescending: false })
  const selection = signal<Selection>(nothing)
  const shown = computed(() => arrange(entries.value ?? [], order.value))
  const names = computed(() => shown.value.map(({ name }) => name))
  const chosen = computed(() => shown.value.filter(({ name }) => selection.value.chosen.has(name)))

  const read = async (isNewest: () => boolean) => {
    const spell = (own: string) => {
      if (isNewest()) path.value = own
    }
    const found = await readWhile(client().files.list(path.value, spell), isNewest)
    if (!found) return
    const before = names.value
    batch(() => {
      failure.value = undefined
      entries.value = found
      selection.value = retain(selection.value, before, names.value)
    })
    onRead?.(path.value, found)
  }

  return {
    path,
    entries,
    isLoading,
    failure,
    order,
    shown,
    selection,
    chosen,
    open(place, active = '') {
      batch(() => {
        path.value = place
        entries.value = undefined
        failure.value = undefined
        selection.value = active === '' ? nothing : choose(nothing, [], active, 'alone')
      })
      return run(read)
    },
    refresh: () => run(read),
    refreshLater: () => runLater(read),
    sortBy(column) {
      order.value = { column, isDescending: column === order.value.column && !order.value.isDescending }
    },
    choose(name, manner) {
      selection.value = choose(selection.value, names.value, name, manner)
    },
    step(by, manner) {
      selection.value = step(selection.value, names.value, by, manner)
    },
    chooseAll() {
      selection.value = chooseAll(selection.value, names.value)
    },
    clearSelection() {
      selection.value = { ...selection.value, chosen: new Set() }
    },
    seek(text) {
      const found = nameStartingWith(text, names.value, selection.value.active)
      if (found !== undefined) selection.value = choose(selection.value, names.value, found, 'alone')
    },
  }
}
