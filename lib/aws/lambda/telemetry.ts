import { type EdgeSettings, logLevels } from '../../config/config.ts'
import { ownMetrics } from '../../config/functions.ts'
import { describeError } from '../../core/errors.ts'
import type { RequestRecord, Telemetry } from '../../http/request.ts'

type Level = EdgeSettings['logLevel']
type Values = Readonly<Record<string, number>>

// Lambda would put an object that is logged with `console` into a member of its own line.
const writeLine = (level: Level, message: string, members: object): void => {
  const timestamp = new Date().toISOString()
  process.stdout.write(`${JSON.stringify({ level, message, timestamp, ...members })}\n`)
}

// V-28: CloudWatch turns log lines with these members into metrics. The metrics have the same names as on one machine.
const asMetrics = (dimension: string, values: Values) => {
  const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: Name.endsWith('_seconds') ? 'Seconds' : 'Count' }))
  const described = { Namespace: ownMetrics.namespace, Dimensions: [[dimension]], Metrics }
  return { ...values, _aws: { Timestamp: Date.now(), CloudWatchMetrics: [described] } }
}

/** Writes a log line whose values are metrics of the function that the member `FunctionName` names. */
export const logMeasures = (level: Level, message: string, members: object, values: Values): void =>
  writeLine(level, message, { ...members, ...asMetrics('FunctionName', values) })

/**
 * Structured log lines, from which the dashboard computes its figures. At `DEBUG` each request is also logged on
 * arrival: if the second line of a request is missing, the request has crashed the function.
 */
export const createTelemetry = (service: string, lowest: Level): Telemetry => {
  const write = (level: Level, message: string, members: object): void => {
    if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return
    writeLine(level, message, { service, ...members })
  }
  return {
    arrival(arrival) {
      write('DEBUG', 'arrival', arrival)
    },
    signIn(record) {
      write('INFO', 'sign-in', { ...record, ...asMetrics('outcome', { [ownMetrics.signIns]: 1 }) })
    },
    request({ error, ...record }: RequestRecord) {
      if (error === undefined) write('INFO', 'request', record)
      else write('ERROR', 'request', { ...record, error: describeError(error) })
    },
  }
}
