import type { FieldsDeps } from '../../lib/deps.ts'
import { callerOperation } from '../../lib/http/caller-operation.ts'
import { sitesUrl } from '../../lib/http/links.ts'
import { ok } from '../../lib/http/reply.ts'
import { findHere, sitesOf } from '../../lib/http/resolve-site.ts'
import type { Answer } from '../contract.ts'
import type { sitePage } from './contract.ts'
import { wholeList } from './views.ts'
import { xmlNames } from './xml-names.ts'

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
