import type { HistoryEntry } from '../history-entry.ts'
import type { SiteId } from '../ids.ts'
import type { DataCentre, Site } from './site.ts'

/** The port to the directory of sites and data centres, which all data centres share. Errors of every call: unavailable. */
export interface SiteDirectory {
  getSite(id: SiteId): Promise<Site | undefined>
  getDataCentre(id: string): Promise<DataCentre | undefined>
  /** Answers false when a site of that id exists already; nothing is changed then. */
  createSite(site: Site, entry: HistoryEntry): Promise<boolean>
  /** Writes it in place of the one of that id. Data centres belong to no site, and have no history. */
  putDataCentre(dataCentre: DataCentre): Promise<void>
  /** All of it, each kind in order of id; for administration. */
  list(): Promise<{ readonly sites: readonly Site[]; readonly dataCentres: readonly DataCentre[] }>
}
