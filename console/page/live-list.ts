import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Change, SiteClient } from '../../client/src/index.ts'
import { usePage } from './context.ts'
import { useLiveLoad } from './live-load.ts'
import { createNewestRead } from './newest-read.ts'

export interface LiveList<Item> {
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
  const { client } = usePage()
  const items = useSignal<readonly Item[]>()
  const { failure, run } = useMemo(createNewestRead, [])
  const load = () =>
    run(async (isNewest) => {
      const found: Item[] = []
      for await (const item of read(client)) {
        found.push(item)
        const isLonger = found.length % growthStep === 0 && found.length > (items.value?.length ?? 0)
        if (isLonger && isNewest()) items.value = [...found]
      }
      if (!isNewest()) return
      items.value = found
      failure.value = undefined
    })
  useLiveLoad(client, load, isAbout)
  return { items, failure, load }
}
