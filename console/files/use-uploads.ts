import { useEffect, useRef } from 'preact/hooks'
import type { SiteClient } from '../../client/src/index.ts'
import { useLeaveWarning } from '../parts/leave-warning.ts'
import { tabStore } from '../parts/stores.ts'
import { notifyFailure } from '../parts/toasts.tsx'
import { createKeptUploads } from '../uploads/kept-uploads.ts'
import { createUploads, type Uploads } from '../uploads/uploads.ts'

/** A browser does not load a script again after a failure. So these scripts are loaded before the network can fail. */
const loadEarly = () => {
  Promise.allSettled([import('./on-demand.ts'), import('../../client/src/large-uploads.ts')])
}

/**
 * Returns the uploads of the current site. Uploads of other sites continue. `access` changes after a new sign-in, and
 * when the service is back.
 */
export const useUploads = (client: SiteClient, access: object): Uploads => {
  const { id } = client.site
  const known = useRef(new Map<number, Uploads>())
  let uploads = known.current.get(id)
  if (!uploads) {
    uploads = createUploads({
      client: () => client,
      kept: createKeptUploads(tabStore, id),
      now: () => performance.now(),
      onFolderFailure: (path, error, repeat) => notifyFailure(`/${path}:`, error, repeat),
    })
    known.current.set(id, uploads)
  }
  useLeaveWarning([...known.current.values()].some(({ totals }) => totals.value.open > 0))
  useEffect(() => known.current.get(id)?.renew(), [access])
  useEffect(loadEarly, [])
  useEffect(
    () => () => {
      // After a sign-out, the page sends nothing more. Unfinished uploads can continue later, as after a reload.
      for (const each of known.current.values()) each.pause()
    },
    [],
  )
  return uploads
}
