import type { SitesTable } from '../lib/sites/sites-table.ts'

/** Writes where the data centres listen into the directory. The default one becomes the only default of the directory. */
export const registerDataCentres = async (
  sites: SitesTable,
  urls: Readonly<Record<string, string>>,
  defaultId: string,
): Promise<void> => {
  const { dataCentres } = await sites.list()
  const stale = dataCentres.filter(({ id, isDefault }) => isDefault && !(id in urls))
  const listening = Object.entries(urls).map(([id, url]) => ({ id, url, isDefault: id === defaultId }))
  await Promise.all(
    [...stale.map((dataCentre) => ({ ...dataCentre, isDefault: false })), ...listening].map((dataCentre) =>
      sites.putDataCentre(dataCentre),
    ),
  )
}
