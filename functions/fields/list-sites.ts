import type { Answer } from '../../lib/contract/contract.ts'
import type { sitePage } from '../../lib/contract/fields/contract.ts'
import { xmlNames } from '../../lib/contract/fields/xml-names.ts'
import { sitesUrl } from '../../lib/http/links.ts'
import { callerOperation } from '../../lib/http/public-operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { findHere, sitesOf } from '../../lib/http/resolve-site.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import { wholeList } from './views.ts'

/** The sites that the token covers, wherever they live, sorted by id (decisions.md, section 8): answered in every data centre. */
export const listSites = ({ edge }: FieldsDeps) =>
  callerOperation(async ({ caller }) => {
    const [here, sites] = await Promise.all([findHere(edge), sitesOf(edge, caller)])
    const items = sites.map(({ site: { id, name, renderingEngine }, dataCentre }) => ({
      id,
      name,
      url: dataCentre.url,
      dataCentre: dataCentre.id,
      renderingEngine,
      permissions: caller.permissions,
    }))
    const value: Answer<typeof sitePage> = wholeList(sitesUrl(here), items)
    return ok({ value, xml: xmlNames.sites })
  })
