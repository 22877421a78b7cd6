import { useLayoutEffect } from 'preact/hooks'
import type { Change, SiteClient } from '../../client/src/index.ts'
import type { Named } from '../parts/chooser.tsx'
import { goTo, route } from '../route/routes.ts'
import { useLiveList } from './live-list.ts'

const chosenId = (): number | undefined => {
  const [text = ''] = route.value.path
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

// True if the screen has room for both list and details.
const hasRoom = (): boolean => matchMedia('(min-width: 641px)').matches

/** Reads a list, and reads it again when the history reports a change. On a wide screen, selects the first item. */
export const useChosen = <Item extends Named>(
  read: (client: SiteClient) => AsyncIterable<Item>,
  isAbout: (change: Change) => boolean,
) => {
  const { items, failure, load } = useLiveList(read, isAbout)
  const chosen = chosenId()
  const [first] = items.value ?? []
  useLayoutEffect(() => {
    if (chosen === undefined && first && hasRoom()) goTo({ path: [String(first.id)] }, { replace: true })
  }, [chosen, first])
  return {
    chosen: items.value?.find(({ id }) => id === chosen),
    list: { items: items.value, chosen, failure: failure.value, onRepeat: load },
  }
}
