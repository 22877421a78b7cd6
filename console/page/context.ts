import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { SiteClient } from '../../client/src/index.ts'
import type { Uploads } from '../uploads/uploads.ts'
import type { Live } from './live.ts'

/** Shared by all views. */
export interface Page {
  /** A client of the site that is shown: it stays the same when somebody signs in again. */
  readonly client: SiteClient
  /** Another one once somebody has signed in again, or the service has come back: what has failed may be read then. */
  readonly access: object
  readonly live: Live
  readonly uploads: Uploads
}

export const PageContext = createContext<Page | undefined>(undefined)

export const usePage = (): Page => {
  const page = useContext(PageContext)
  if (!page) throw new Error('A view stands in a page.')
  return page
}
