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

const rangeOf = (headers: Headers): Headers => {
  const range = headers.get('Range')
  return new Headers(range === null ? {} : { Range: range })
}

interface Place {
  readonly url: string
  readonly headers: Headers
  readonly isInBucket: boolean
}

/** Sends calls, and follows their redirects to trusted addresses and to files in buckets. */
export const createRedirectFollower = ({ token, base, trustedUrls, fetch: send }: Reach) => {
  const isTrusted = (url: string) => trustedUrls().some((trusted) => url.startsWith(`${trusted}/`))

  const ask = async (call: Call, place: Place, signal: AbortSignal, watch: Watch): Promise<Response | Place> => {
    const { url, headers, isInBucket } = place
    if (!isInBucket && !isTrusted(url)) throw untrustedAddress(url)
    const init = (): RequestInit => ({ method: call.method, headers, signal, ...bodyOf(call, watch) })
    // Platforms differ in whether a followed redirect keeps the token, so redirects are followed here.
    const response = await send(url, { ...init(), redirect: 'manual' })
    // A browser hides redirects from scripts. It drops the token when the host changes, but sends the other headers to the
    // bucket, which has other tags than the service.
    if (response.type === 'opaqueredirect' && (isInBucket || call.method === 'GET')) {
      headers.delete('If-Match')
      return send(url, { ...init(), redirect: 'follow' })
    }
    const target = redirectOf(response, url)
    if (target === undefined) return response
    refuseDowngrade(url, target)
    if (isInBucket || isTrusted(target)) return { url: target, headers, isInBucket }
    if (!isFileRead(call, response)) throw untrustedRedirect(response.status, target)
    return { url: target, headers: rangeOf(headers), isInBucket: true }
  }

  return async (call: Call, signal: AbortSignal, watch: Watch): Promise<Response> => {
    const { url, isSigned: isInBucket = false } = call
    const headers = new Headers(call.headers)
    if (!isInBucket && token !== undefined) headers.set('Authorization', token)
    // Without a declared length the bytes would be sent in chunks, but a proxy may need the length.
    if (!isInBucket && isStreamed(call.body)) headers.set('Content-Length', String(call.body.size))
    refuseDowngrade(base, url)
    let place: Place = { url, headers, isInBucket }
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const answer = await ask(call, place, signal, watch)
      if (!('isInBucket' in answer)) return answer
      place = answer
    }
    throw tooManyRedirects(place.url)
  }
}
