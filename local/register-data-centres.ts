import type { SiteDirectory } from '../lib/sites/site-directory.ts'

/** Writes where the data centres listen into the directory. The default one becomes the only default of the directory. */
export const registerDataCentres = async (
  sites: SiteDirectory,
  urls: Readonly<Record<string, string>>,
  defaultId: string,
): Promise<void> => {
  const { dataCentres } = await sites.list()
  const stale = dataCentres.filter(({ id, isDefault }) => isDefault && !(id in urls))
  const listening = Object.entries(urls).map(([id, url]) => ({ id, url, isDefault: id === defaultId }))
  for (const dataCentre of [...stale.map((each) => ({ ...each, isDefault: false })), ...listening]) {
    await sites.putDataCentre(dataCentre)
  }
}
