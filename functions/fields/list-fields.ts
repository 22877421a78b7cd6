import type { FieldsDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { operation } from '../../lib/http/operation.ts'
import { byValue, ok } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { fieldPage } from './contract.ts'
import { webFormOf } from './params.ts'
import { fieldView, wholeList } from './views.ts'
import { xmlNames } from './xml-names.ts'

/** Operation 1: the system fields of a web form, sorted by order. 404/115001 when there is no such form. */
export const listFields = ({ webForms }: FieldsDeps) =>
  operation({ params: webFormOf }, async ({ site, dataCentre, params }) => {
    const form = await webForms.get(site.id, params.webForm)
    if (!form) throw new ServiceError('webFormUnknown')
    const urls = siteUrls(dataCentre, site)
    const items = form.fields.map((field) => fieldView(field, urls.field(form.id, field.typeId)))
    const value: Answer<typeof fieldPage> = wholeList(urls.fields(form.id), items)
    return ok({ value, xml: xmlNames.fields }, byValue)
  })
