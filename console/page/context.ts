import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me, SiteClient } from '../../client/src/index.ts'
import type { Uploads } from '../uploads/uploads.ts'
import type { Live } from './live.ts'
import type { Rights } from './rights.ts'

export interface Page {
  /** The owner of the token. */
  readonly me: Me
  /** This object stays the same after a new sign-in. */
  readonly client: SiteClient
  /** This object changes after a new sign-in, and when the service is back: reads that failed may then succeed. */
  readonly access: object
  readonly rights: Rights
  readonly live: Live
  readonly uploads: Uploads
}

export const PageContext = createContext<Page | undefined>(undefined)

export const usePage = (): Page => {
  const page = useContext(PageContext)
  if (!page) throw new Error('usePage() needs a PageContext.')
  return page
}
