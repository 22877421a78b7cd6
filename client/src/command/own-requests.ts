import type { Fetch } from '../call.ts'

const mostKept = 10_000

/** Remembers the requests of this process, so that `watch` recognizes its own changes. */
export const createOwnRequests = (send: Fetch) => {
  const ids = new Set<string>()
  const fetch: Fetch = async (url, init) => {
    const response = await send(url, init)
    ids.add(response.headers.get('X-Request-Id') ?? '')
    const [oldest] = ids
    if (ids.size > mostKept && oldest !== undefined) ids.delete(oldest)
    return response
  }
  return { fetch, has: (requestId: string | null) => requestId !== null && ids.has(requestId) }
}
