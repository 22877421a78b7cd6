export type Format = 'json' | 'xml'

/** The first format is the default. With a single format, `Accept` is ignored. */
export type Formats = readonly [Format, ...Format[]]
