import type { FieldsDeps } from '../../lib/deps.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { Answer } from '../contract.ts'
import type { webFormPage } from './contract.ts'
import { webFormView, wholeList } from './views.ts'
import { xmlNames } from './xml-names.ts'

/** The web forms of a site, sorted by id (decisions.md, section 8). */
export const listWebForms = ({ webForms }: FieldsDeps) =>
  operation({ params: noParams }, async ({ site, dataCentre }) => {
    const urls = siteUrls(dataCentre, site)
    const items = (await webForms.list(site.id)).map((form) => webFormView(form, urls))
    const value: Answer<typeof webFormPage> = wholeList(urls.webForms(), items)
    return ok({ value, xml: xmlNames.webForms })
  })
