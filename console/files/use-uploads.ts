import { useEffect, useRef } from 'preact/hooks'
import type { SiteClient } from '../../client/src/index.ts'
import { createKeptUploads } from './kept-uploads.ts'
import { createUploads, type Uploads } from './uploads.ts'

/** The uploads of the site that is shown. Those of other sites go on meanwhile. */
export const useUploads = (client: SiteClient): Uploads => {
  const { id } = client.site
  const clients = useRef(new Map<number, SiteClient>())
  const known = useRef(new Map<number, Uploads>())
  clients.current.set(id, client)
  let uploads = known.current.get(id)
  if (!uploads) {
    uploads = createUploads({
      client: () => clients.current.get(id) ?? client,
      kept: createKeptUploads(sessionStorage, id),
      now: () => performance.now(),
    })
    known.current.set(id, uploads)
  }
  useEffect(() => known.current.get(id)?.renew(), [client])
  return uploads
}
