/** What is recorded of a request: never a token, a body or a query string. */
export interface RequestRecord {
  readonly requestId: string
  readonly operation: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly site: number | null
  /** As it was sent. */
  readonly status: number
  readonly durationMs: number
  /** Set when the service, and not the caller, is at fault. */
  readonly error?: unknown
}

/** Where records of requests go. */
export interface Telemetry {
  request(record: RequestRecord): void
}

/** What has been found out of a request when it ends, however it ends. */
export interface Trace {
  operation: string
  site: number | null
  /** Whether the route is one that answers JSON whatever is asked for. */
  public: boolean
}
