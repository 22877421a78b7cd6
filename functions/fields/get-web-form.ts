import type { FieldsDeps } from '../../lib/deps.ts'
import { ServiceError } from '../../lib/errors.ts'
import { siteUrls } from '../../lib/http/links.ts'
import { operation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { webFormOf } from './params.ts'
import { webFormView } from './views.ts'
import { xmlNames } from './xml-names.ts'

/** One web form of a site (decisions.md, section 8). 404/115001 when there is no such form. */
export const getWebForm = ({ webForms }: FieldsDeps) =>
  operation({ params: webFormOf }, async ({ site, dataCentre, params }) => {
    const form = await webForms.get(site.id, params.webForm)
    if (!form) throw new ServiceError('webFormUnknown')
    return ok({ value: webFormView(form, siteUrls(dataCentre, site)), xml: xmlNames.webForm })
  })
