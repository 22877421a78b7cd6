import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/**
 * The port to sites and data centres, shared by all data centres. Lists are in order of id. Data centres have no
 * history. On one machine they have no `region`. A change answers false when the id is taken, or the site not there; an
 * unchanged name or quota leaves no entry. A removal ends with that of the site. Errors of every call: unavailable.
 */
export interface SiteDirectory {
  getSite(id: SiteId): Promise<Site | undefined>
  getDataCentre(id: string): Promise<DataCentre | undefined>
  createSite(site: Site, entry: HistoryEntry): Promise<boolean>
  renameSite(id: SiteId, name: string, entry: HistoryEntry): Promise<boolean>
  setQuota(id: SiteId, quota: number | undefined, entry: HistoryEntry): Promise<boolean>
  removeSite(id: SiteId, entry: HistoryEntry): Promise<boolean>
  putDataCentre(dataCentre: DataCentre): Promise<void>
  list(): Promise<{ readonly sites: readonly Site[]; readonly dataCentres: readonly DataCentre[] }>
}

export interface Site {
  readonly id: SiteId
  readonly name: string
  readonly dataCentre: string
  readonly renderingEngine: boolean
  /** Bytes (S-120). */
  readonly quota?: number
}

export interface DataCentre {
  readonly id: string
  readonly url: string
  readonly isDefault: boolean
  readonly region?: string
}

/** Accepts http and https, without a query or a password. Drops a trailing slash. */
export const readBaseUrl = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username + url.password + url.search + url.hash !== '') return undefined
  return url.href.replace(/\/+$/, '')
}
