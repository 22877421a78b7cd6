import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { FoundItem, SiteClient } from '../../client/src/index.ts'

/** In milliseconds: after this time without a key, the search starts. */
const pause = 300
/** A longer list grows by this many items at a time. */
const growth = 100

export interface NameSearch {
  readonly text: ReadonlySignal<string>
  /** Undefined before the first answer. */
  readonly found: ReadonlySignal<readonly FoundItem[] | undefined>
  readonly active: Signal<number>
  readonly isSearching: ReadonlySignal<boolean>
  readonly hasMore: ReadonlySignal<boolean>
  readonly failure: ReadonlySignal<unknown>
  /** Ends the search for the old text. An empty text starts no new search. */
  type(text: string): void
  more(): Promise<void>
  repeat(): Promise<void>
}

/** Searches the names of everything below a folder while the user types. */
export const createNameSearch = (client: () => SiteClient, folder: () => string): NameSearch => {
  const text = signal('')
  const found = signal<readonly FoundItem[]>()
  const active = signal(0)
  const isSearching = signal(false)
  const hasMore = signal(false)
  const failure = signal<unknown>()
  let aborter = new AbortController()
  let rest: AsyncIterator<FoundItem> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Shows each item when it arrives, because a large site on AWS takes several requests. */
  const grow = async (items: AsyncIterator<FoundItem>, before: readonly FoundItem[], isOld: () => boolean) => {
    let shown = before
    while (shown.length < before.length + growth) {
      const next = await items.next()
      if (isOld()) return
      if (next.done) {
        rest = undefined
        break
      }
      shown = [...shown, next.value]
      found.value = shown
    }
    found.value = shown
  }

  const read = async (before: readonly FoundItem[]) => {
    if (!rest) return
    const own = aborter.signal
    isSearching.value = true
    failure.value = undefined
    try {
      await grow(rest, before, () => own.aborted)
    } catch (error) {
      if (own.aborted) return
      failure.value = error
      rest = undefined
    }
    if (own.aborted) return
    hasMore.value = rest !== undefined
    isSearching.value = false
  }

  const start = () => {
    active.value = 0
    rest = client().files.search(folder(), text.value.trim(), aborter.signal)[Symbol.asyncIterator]()
    return read([])
  }

  return {
    text,
    found,
    active,
    isSearching,
    hasMore,
    failure,
    type(next) {
      clearTimeout(timer)
      aborter.abort()
      aborter = new AbortController()
      const isEmpty = next.trim() === ''
      batch(() => {
        text.value = next
        isSearching.value = !isEmpty
        hasMore.value = false
        failure.value = undefined
        found.value = undefined
      })
      if (!isEmpty) timer = setTimeout(start, pause)
    },
    more: () => read(found.value ?? []),
    repeat: start,
  }
}
