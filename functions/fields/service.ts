import { permissionsOf, rightsOn } from '../../lib/access/grants.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import type { health, root, sitePage } from '../../lib/contract/fields/contract.ts'
import type { CallerOperation, PublicOperation } from '../../lib/http/operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { namesType } from '../../lib/http/representation.ts'
import { findHere, sitesOf } from '../../lib/http/resolve-site.ts'
import { xmlNames } from '../../lib/http/write-xml.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import type { DataCentre } from '../../lib/sites/site-directory.ts'

export const sitesUrl = ({ url }: DataCentre): string => `${url}/api/v1/admin/sites`

/** F-5: in the first version of the API, a list always had one page. */
export const wholeList = <Item>(self: string, items: readonly Item[]) => ({
  links: [
    { rel: 'self', uri: self },
    { rel: 'previous', uri: null },
    { rel: 'next', uri: null },
  ],
  items,
  totalItemsCount: items.length,
  itemsPerPageCount: 1000,
  currentPage: 1,
})

/** A-28, V-29. Errors, with `?ready`: unavailable, outOfSpace. */
export const getHealth: PublicOperation<Pick<FieldsDeps, 'edge' | 'checkReady'>> = async ({ query }, deps) => {
  if (query.has('ready')) await deps.checkReady?.()
  return ok<Answer<typeof health>>({ status: 'ok' })
}

// Relative, so that a browser stays on the host name that it used. If the root has no trailing slash, the address
// begins with the last segment of the root.
const consolePath = (path: string, { url }: DataCentre): string => {
  const prefix = new URL(url).pathname.split('/').at(-1)
  return path === '' && prefix ? `${prefix}/console` : 'console'
}

/** Redirects a browser to the console, and answers a program with links. */
export const getRoot: PublicOperation<Pick<FieldsDeps, 'edge'>> = async (request, { edge }) => {
  const here = await findHere(edge)
  const headers = { Vary: 'Accept' }
  if (namesType(request, 'text/html')) {
    return { status: 302, headers: { ...headers, Location: consolePath(request.path, here) } }
  }
  const links = ['console', 'docs', 'openapi.json'].map((name) => ({
    rel: name.split('.', 1)[0] ?? name,
    uri: `${here.url}/${name}`,
  }))
  return ok<Answer<typeof root>>({ status: 'ok', links }, { headers })
}

/** the sites of the token in all data centres, sorted by id. */
export const listSites: CallerOperation<FieldsDeps> = async ({ caller }, { edge }) => {
  const [here, sites] = await Promise.all([findHere(edge), sitesOf(edge, caller)])
  const items = sites.map(({ site: { id, name, renderingEngine }, dataCentre }) => ({
    id,
    name,
    url: dataCentre.url,
    dataCentre: dataCentre.id,
    renderingEngine,
    permissions: permissionsOf(rightsOn(caller, id)),
  }))
  return ok<Answer<typeof sitePage>>(wholeList(sitesUrl(here), items), { xml: xmlNames.sites })
}
