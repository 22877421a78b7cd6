import { parseListQuery } from '../../lib/categories/query/list-query.ts'
import { listSiteUrls as listUrls, siteUrlList } from '../../lib/categories/site-urls.ts'
import type { siteUrlPage } from '../../lib/contract/categories/contract.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { noParams, operation } from '../../lib/http/operation.ts'
import { okWithJson } from '../../lib/http/reply.ts'

/** The one address of a site (decisions.md, section 8): the base URL of the data centre where it lives. 400/220000 by the query. */
export const listSiteUrls = operation(
  { params: noParams, query: (query, { site }) => parseListQuery(query, siteUrlList(site.id)) },
  async ({ site, dataCentre, query }) =>
    okWithJson<Answer<typeof siteUrlPage>>(await listUrls(site.id, dataCentre.url, query)),
)
