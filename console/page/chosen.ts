import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Change, SiteClient } from '../../client/src/index.ts'
import type { Named } from '../parts/chooser.tsx'
import { goTo, route } from '../route/routes.ts'
import { usePage } from './context.ts'

const chosenId = (): number | undefined => {
  const [text = ''] = route.value.path
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

// True if the screen has room for both list and details.
const hasRoom = (): boolean => matchMedia('(min-width: 641px)').matches

/** While a long list is read, it grows by this many items at a time. */
const growthStep = 500

/** Reads a list, and reads it again when the history reports a change. On a wide screen, selects the first item. */
export const useChosen = <Item extends Named>(
  read: (client: SiteClient) => AsyncIterable<Item>,
  isAbout: (change: Change) => boolean,
) => {
  const { client, access, live } = usePage()
  const items = useSignal<readonly Item[] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const chosen = chosenId()
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
  const [first] = items.value ?? []
  useEffect(() => {
    if (chosen === undefined && first && hasRoom()) goTo({ path: [String(first.id)] }, { replace: true })
  }, [chosen, first])
  return {
    chosen: items.value?.find(({ id }) => id === chosen),
    list: { items: items.value, chosen, failure: failure.value, onRepeat: load },
  }
}
