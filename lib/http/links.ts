import type { WebFormId } from '../core/ids.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'

export const sitesUrl = ({ url }: DataCentre): string => `${url}/api/v1/admin/sites`

export const siteUrls = (dataCentre: DataCentre, { id }: Pick<Site, 'id'>) => {
  const site = `${sitesUrl(dataCentre)}/${id}`
  const webForm = (form: WebFormId) => `${site}/webforms/${form}`
  const fields = (form: WebFormId) => `${webForm(form)}/fields/system`
  return {
    webForms: () => `${site}/webforms`,
    webForm,
    fields,
    field: (form: WebFormId, typeId: number) => `${fields(form)}/${typeId}`,
    fieldTypes: () => `${site}/webformfieldtypes/system`,
    storage: (path: string) => `${dataCentre.url}/api/v2/admin/sites/${id}/storage${path === '' ? '' : `/${path}`}`,
  }
}

export type SiteUrls = ReturnType<typeof siteUrls>
