import type { RequestRecord, Telemetry } from '../lib/http/observe.ts'
import type { LogLines } from './log-lines.ts'

/** How a request is told of: a line for people, or an object for programs (decisions.md, section 6). */
export type LogFormat = 'text' | 'json'

const milliseconds = (duration: number) => Math.round(duration * 10) / 10

const describe = (error: unknown) =>
  error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack }
    : { name: 'Error', message: String(error) }

/** With everything that is known of an error of the service itself, its causes too. */
const stackOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\n  because of ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}

const formats: Readonly<Record<LogFormat, (record: RequestRecord, time: string) => string>> = {
  text: ({ method, path, status, durationMs, requestId, error }, time) => {
    const line = `${time} ${method} ${path} ${status} ${milliseconds(durationMs)} ms ${requestId}`
    return error === undefined ? line : `${line}\nRequest ${requestId} failed: ${stackOf(error)}`
  },
  json: ({ method, path, status, durationMs, requestId, operation, site, error }, time) =>
    JSON.stringify({
      time,
      method,
      path,
      status,
      milliseconds: milliseconds(durationMs),
      requestId,
      operation,
      site,
      ...(error !== undefined && { error: describe(error) }),
    }),
}

/** A line for each request. When quiet, only for those at which the service itself is at fault. */
export const createRequestLog = (
  lines: LogLines,
  { quiet, format }: { readonly quiet: boolean; readonly format: LogFormat },
  now: () => number = Date.now,
): Telemetry => ({
  request(record) {
    if (quiet && record.error === undefined) return
    lines.write(formats[format](record, new Date(now()).toISOString()))
  },
})
