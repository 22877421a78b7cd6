import { useEffect } from 'preact/hooks'
import type { Change } from '../../client/src/index.ts'
import { usePage } from './context.ts'

/**
 * Calls `load` for each new `subject`, after a new sign-in, and when the service is back. Calls `loadLater` when the
 * history reports a change.
 */
export const useLiveLoad = (
  subject: unknown,
  load: () => unknown,
  isAbout: (change: Change) => boolean,
  loadLater = load,
): void => {
  const { access, live } = usePage()
  useEffect(() => {
    load()
    return live.subscribe((changes) => {
      if (changes.some(isAbout)) loadLater()
    })
  }, [subject, access, live])
}
