/** What is recorded of a request: never a token, a body or a query string. */
export interface RequestRecord {
  readonly requestId: string
  readonly operation: string
  readonly method: string
  /** As it was asked for, without the query. */
  readonly path: string
  readonly site: number | null
  readonly status: number
  readonly durationMs: number
  /** Set when the service, and not the caller, is at fault. */
  readonly error?: unknown
}

/** Where records of requests go. */
export interface Telemetry {
  request(record: RequestRecord): void
}
