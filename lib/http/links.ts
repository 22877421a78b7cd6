import type { WebFormId } from '../core/ids.ts'
import type { DataCentre, Site } from '../sites/site-directory.ts'

export interface Link {
  readonly rel: string
  readonly uri: string | null
}

export const sitesUrl = ({ url }: DataCentre): string => `${url}/api/v1/admin/sites`

export interface SiteUrls {
  webForms(): string
  webForm(id: WebFormId): string
  fields(id: WebFormId): string
  field(id: WebFormId, typeId: number): string
  fieldTypes(): string
  // `path` is percent-encoded.
  storage(path: string): string
}

export const siteUrls = (dataCentre: DataCentre, { id }: Pick<Site, 'id'>): SiteUrls => {
  const site = `${sitesUrl(dataCentre)}/${id}`
  const webForm = (form: WebFormId) => `${site}/webforms/${form}`
  const fields = (form: WebFormId) => `${webForm(form)}/fields/system`
  return {
    webForms: () => `${site}/webforms`,
    webForm,
    fields,
    field: (form, typeId) => `${fields(form)}/${typeId}`,
    fieldTypes: () => `${site}/webformfieldtypes/system`,
    storage: (path) => `${dataCentre.url}/api/v2/admin/sites/${id}/storage${path === '' ? '' : `/${path}`}`,
  }
}
