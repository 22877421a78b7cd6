import type { WebFormSummary } from '../../lib/fields/web-form.ts'
import type { SiteUrls } from '../../lib/http/links.ts'
import type { Answer } from '../contract.ts'
import type { webForm } from './contract.ts'

/** A web form as callers see it (decisions.md, section 8). */
export const webFormView = ({ id, name }: WebFormSummary, urls: SiteUrls): Answer<typeof webForm> => ({
  links: [
    { rel: 'self', uri: urls.webForm(id) },
    { rel: 'systemFields', uri: urls.fields(id) },
  ],
  id,
  name,
})
