import type { FieldsDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import { findField } from '../../lib/fields/field-rules.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { fieldOf } from './params.ts'
import { fieldTag, fieldView } from './views.ts'
import { xmlNames } from './xml-names.ts'

/** Operation 2: one system field of a web form. 404/115001 without the form, 404/115002 without the field. */
export const getField = ({ webForms }: FieldsDeps) =>
  operation({ params: fieldOf }, async ({ site, dataCentre, params }) => {
    const form = await webForms.get(site.id, params.webForm)
    if (!form) throw new ServiceError('webFormUnknown')
    const field = findField(form.fields, params.typeId)
    const value = fieldView(field, siteUrls(dataCentre, site).field(form.id, field.typeId))
    return ok({ value, xml: xmlNames.field }, fieldTag(field))
  })
