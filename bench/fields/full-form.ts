import { fieldTypes } from '../../lib/fields/catalogue.ts'
import type { SystemField, WebForm } from '../../lib/fields/web-forms.ts'
import type { SiteId, WebFormId } from '../../lib/ids.ts'

/** A form with a field of each of the 33 types of the catalogue: the largest there is. It is on the site of `fillDirectory`. */
export const fullForm: WebForm = {
  site: 1001 as SiteId,
  id: 1 as WebFormId,
  name: 'Contact us',
  fields: [...fieldTypes.keys()].map((typeId, index): SystemField => ({ typeId, mandatory: true, order: index + 1 })),
}

export const listPath = `/api/v1/admin/sites/${fullForm.site}/webforms/${fullForm.id}/fields/system`
