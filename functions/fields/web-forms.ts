import type { Answer } from '../../lib/contract/contract.ts'
import type { webFormPage } from '../../lib/contract/fields/contract.ts'
import { xmlNames } from '../../lib/contract/fields/xml-names.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import { findForm, webFormOf } from './params.ts'
import { webFormView, wholeList } from './views.ts'

export const listWebForms = ({ webForms }: FieldsDeps) =>
  operation({ params: noParams }, async ({ site, dataCentre }) => {
    const urls = siteUrls(dataCentre, site)
    const items = (await webForms.list(site.id)).map((form) => webFormView(form, urls))
    const value: Answer<typeof webFormPage> = wholeList(urls.webForms(), items)
    return ok({ value, xml: xmlNames.webForms })
  })

/** F-8. 404/115001 without the form. */
export const getWebForm = ({ webForms }: FieldsDeps) =>
  operation({ params: webFormOf }, async ({ site, dataCentre, params }) => {
    const form = await findForm(webForms, site.id, params.webForm)
    return ok({ value: webFormView(form, siteUrls(dataCentre, site)), xml: xmlNames.webForm })
  })
