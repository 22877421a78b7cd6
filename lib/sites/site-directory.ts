import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/** The port to the directory of sites and data centres, which all data centres share. Errors of every call: unavailable. */
export interface SiteDirectory {
  getSite(id: SiteId): Promise<Site | undefined>
  getDataCentre(id: string): Promise<DataCentre | undefined>
  /** Answers false when a site of that id exists already; nothing is changed then. */
  createSite(site: Site, entry: HistoryEntry): Promise<boolean>
  /** Answers whether there is such a site. A name that it has already leaves no entry. */
  renameSite(id: SiteId, name: string, entry: HistoryEntry): Promise<boolean>
  /** Takes a site off the directory, when nothing is left of it. Answers whether it was there. */
  removeSite(id: SiteId, entry: HistoryEntry): Promise<boolean>
  /** Writes it in place of the one of that id. Data centres belong to no site, and have no history. */
  putDataCentre(dataCentre: DataCentre): Promise<void>
  /** All of it, each kind in order of id; for administration. */
  list(): Promise<{ readonly sites: readonly Site[]; readonly dataCentres: readonly DataCentre[] }>
}

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

/** Reads the base URL of a data centre: http or https, without a query or a password. A trailing slash is dropped. */
export const readBaseUrl = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username + url.password + url.search + url.hash !== '') return undefined
  return url.href.replace(/\/+$/, '')
}
