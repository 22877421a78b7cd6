import { refuseDowngrade, tooManyRedirects, untrustedAddress, untrustedRedirect } from './addresses.ts'
import { bodyOf, type Call, type Fetch, isStreamed } from './call.ts'
import type { Watch } from './source.ts'

const mostRedirects = 3

export interface Reach {
  /** A sign-in needs no token. */
  readonly token?: string
  /** The address that the caller gave. The service at this address names the other trusted addresses. */
  readonly base: string
  readonly trustedUrls: () => readonly string[]
  readonly fetch: Fetch
}

const redirectOf = ({ status, headers }: Response, url: string): string | undefined => {
  const location = headers.get('Location')
  return location && [301, 302, 307, 308].includes(status) ? new URL(location, url).href : undefined
}

/** A file may be in a bucket. The URL of the bucket needs no token, and must not receive one. */
const isFileRead = ({ method }: Call, { status }: Response): boolean => method === 'GET' && status === 302

const rangeOf = (headers: RequestInit['headers']): Pick<RequestInit, 'headers'> => {
  const range = new Headers(headers).get('Range')
  return range === null ? {} : { headers: { Range: range } }
}

/** The browser sends the headers to the bucket too, and the bucket has other tags than the service. */
const withoutConditions = (given: RequestInit['headers']): Headers => {
  const headers = new Headers(given)
  headers.delete('If-Match')
  return headers
}

/** Sends calls, and follows their redirects to trusted addresses and to files in buckets. */
export const createRedirectFollower = ({ token, base: given, trustedUrls, fetch: send }: Reach) => {
  const isTrusted = (url: string) => trustedUrls().some((base) => url.startsWith(`${base}/`))

  const askBucket = async (from: string, url: string, init: () => RequestInit, redirects = 0): Promise<Response> => {
    refuseDowngrade(from, url)
    const response = await send(url, { ...init(), redirect: 'manual' })
    if (response.type === 'opaqueredirect') return send(url, { ...init(), redirect: 'follow' })
    const target = redirectOf(response, url)
    if (target === undefined) return response
    if (redirects === mostRedirects) throw tooManyRedirects(target)
    return askBucket(url, target, init, redirects + 1)
  }

  const hop = async (call: Call, url: string, init: RequestInit, watch: Watch): Promise<Response | string> => {
    refuseDowngrade(given, url)
    if (!isTrusted(url)) throw untrustedAddress(url)
    const response = await send(url, { ...init, ...bodyOf(call, watch) })
    // A browser hides redirects from scripts. The browser itself drops the token when the host changes.
    if (response.type === 'opaqueredirect' && call.method === 'GET')
      return send(url, { ...init, headers: withoutConditions(init.headers), redirect: 'follow' })
    const target = redirectOf(response, url)
    if (target === undefined) return response
    refuseDowngrade(url, target)
    if (isTrusted(target)) return target
    if (!isFileRead(call, response)) throw untrustedRedirect(response.status, target)
    return askBucket(url, target, () => ({ signal: init.signal ?? null, ...rangeOf(init.headers) }))
  }

  return async (call: Call, signal: AbortSignal, watch: Watch): Promise<Response> => {
    const headers = new Headers(call.headers)
    if (call.isSigned)
      return askBucket(given, call.url, () => ({ method: call.method, headers, signal, ...bodyOf(call, watch) }))
    if (token !== undefined) headers.set('Authorization', token)
    // Without a declared length the bytes would be sent in chunks, but a proxy may need the length.
    if (isStreamed(call.body)) headers.set('Content-Length', String(call.body.size))
    // Platforms differ in whether a followed redirect keeps the token, so redirects are followed here.
    const init: RequestInit = { method: call.method, headers, redirect: 'manual', signal }
    let answer = await hop(call, call.url, init, watch)
    for (let redirects = 0; typeof answer === 'string'; redirects++) {
      if (redirects === mostRedirects) throw tooManyRedirects(answer)
      answer = await hop(call, answer, init, watch)
    }
    return answer
  }
}
