import type { SiteId } from '../ids.ts'

export interface Site {
  readonly id: SiteId
  readonly name: string
  /** The id of the data centre where the site lives. */
  readonly dataCentre: string
  /** Whether the new rendering engine is enabled, which the v3 operations need. */
  readonly renderingEngine: boolean
}

export interface DataCentre {
  readonly id: string
  /** The base URL of its service, without a trailing slash: what URLs in answers start with. */
  readonly url: string
  /** Whether sites are made here unless told otherwise. */
  readonly isDefault: boolean
  /** The region that it is deployed in; none on one machine. */
  readonly region?: string
}
