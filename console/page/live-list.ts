import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change, SiteClient } from '../../client/src/index.ts'
import { usePage } from './context.ts'

interface LiveList<Item> {
  readonly items: ReadonlySignal<readonly Item[] | undefined>
  readonly failure: ReadonlySignal<unknown>
  readonly load: () => Promise<void>
}

/** While a long list is read, it grows by this many items at a time. */
const growthStep = 500

/** Reads a list, and reads it again when the history reports a change. */
export const useLiveList = <Item>(
  read: (client: SiteClient) => AsyncIterable<Item>,
  isAbout: (change: Change) => boolean,
): LiveList<Item> => {
  const { client, access, live } = usePage()
  const items = useSignal<readonly Item[] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const load = async () => {
    try {
      const found: Item[] = []
      for await (const item of read(client)) {
        found.push(item)
        if (found.length % growthStep === 0 && found.length > (items.value?.length ?? 0)) items.value = [...found]
      }
      items.value = found
      failure.value = undefined
    } catch (error) {
      failure.value = error
    }
  }
  useEffect(() => {
    load()
    return live.subscribe((changes) => {
      if (changes.some(isAbout)) load()
    })
  }, [client, access, live])
  return { items, failure, load }
}
