import type { HistoryEntry } from '../core/history-entry.ts'
import type { SiteId } from '../core/ids.ts'

/**
 * The port to sites and data centres, which all data centres share. Lists are in order of id. Data centres have no
 * history. On one machine they have no `region`. A call that creates returns false when the id is taken; other changes
 * return false when the site does not exist. A name or quota that stays the same writes no entry. A removed site keeps
 * its history. Quotas are in bytes (S-120). Errors of every call: unavailable.
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
