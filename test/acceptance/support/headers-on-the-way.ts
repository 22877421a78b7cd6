/** Headers that HTTP, proxies and gateways add to an answer. The document cannot list them. */
const added = new Set([
  ...['age', 'alt-svc', 'connection', 'date', 'forwarded', 'keep-alive', 'nel', 'proxy-connection', 'report-to'],
  ...['server', 'server-timing', 'transfer-encoding', 'via', 'warning'],
])
const ofGateways = /^(?:cf-|x-(?:amz|cache|edge|forwarded|localstack|served|varnish))/

export const isAddedOnTheWay = (name: string): boolean => added.has(name) || ofGateways.test(name)

type Headers = Readonly<Record<string, string | undefined>>

const renamed = 'x-amzn-remapped-'

/**
 * The headers by the names that the service gave them. API Gateway renames `WWW-Authenticate`, `Date` and others. In an
 * answer to HEAD, the gateway also renames `Content-Length`, and adds its own ("Amazon API Gateway important notes").
 */
export const underOwnNames = (headers: Headers): Headers => ({
  ...headers,
  ...Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(renamed))
      .map(([name, value]) => [name.slice(renamed.length), value]),
  ),
})
