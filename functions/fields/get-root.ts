import type { Answer } from '../../lib/contract/contract.ts'
import type { root } from '../../lib/contract/fields/contract.ts'
import { namesType } from '../../lib/http/negotiate.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import { ok } from '../../lib/http/reply.ts'
import { findHere } from '../../lib/http/resolve-site.ts'
import type { FieldsDeps } from '../../lib/service/deps.ts'
import type { DataCentre } from '../../lib/sites/site-directory.ts'

/** The console's address as seen from the root of the service. Where that was asked for without a slash at its end, it is one beside it. */
const consoleFrom = (path: string, { url }: DataCentre): string => {
  const prefix = new URL(url).pathname.split('/').at(-1)
  return path === '' && prefix ? `${prefix}/console` : 'console'
}

/**
 * Shows a person the console, and a program where things are (decisions.md, section 12). The console's address is relative: whoever has come by another name than
 * the data centre's own stays there.
 */
export const getRoot = ({ edge }: Pick<FieldsDeps, 'edge'>) =>
  publicOperation(async (request) => {
    const here = await findHere(edge)
    const headers = { Vary: 'Accept' }
    if (namesType(request, 'text/html')) {
      return { status: 302, headers: { ...headers, Location: consoleFrom(request.path, here) } }
    }
    const links = ['console', 'docs', 'openapi.json'].map((name) => ({
      rel: name.split('.', 1)[0] ?? name,
      uri: `${here.url}/${name}`,
    }))
    return { ...ok<Answer<typeof root>>({ value: { status: 'ok', links } }), headers }
  })
