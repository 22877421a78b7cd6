import type { Telemetry } from '../lib/http/observe.ts'

const site = (id: number | null) => (id === null ? '' : ` site ${id}`)

/** One line per request on standard error, for people. Errors that are the service's own come with all that is known of them. */
export const createRequestLog = (quiet: boolean): Telemetry => ({
  request({ requestId, method, operation, site: siteId, status, durationMs, error }) {
    if (!quiet)
      console.error(`${method} ${operation}${site(siteId)} ${status} ${durationMs.toFixed(1)} ms ${requestId}`)
    if (error !== undefined) console.error(`Request ${requestId} failed:`, error)
  },
})
