import { type EdgeSettings, logLevels } from '../../config/config.ts'
import { describeError } from '../../core/errors.ts'
import type { RequestRecord, Telemetry } from '../../http/request.ts'

// V-28: CloudWatch turns log lines with these members into a metric. The metric has the same name as on one machine.
const signIns = 'site_admin_sign_ins_total'
const asMetric = (at: number) => ({
  [signIns]: 1,
  _aws: {
    Timestamp: at,
    CloudWatchMetrics: [
      { Namespace: 'site-admin', Dimensions: [['outcome']], Metrics: [{ Name: signIns, Unit: 'Count' }] },
    ],
  },
})

/**
 * Structured log lines, from which the dashboard computes its figures. At `DEBUG` each request is also logged on
 * arrival: if the second line of a request is missing, the request has crashed the function.
 */
export const createTelemetry = (service: string, lowest: EdgeSettings['logLevel']): Telemetry => {
  // Lambda would put an object that is logged with `console` into a member of its own line.
  const write = (level: EdgeSettings['logLevel'], message: string, members: object): void => {
    if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return
    const timestamp = new Date().toISOString()
    process.stdout.write(`${JSON.stringify({ level, message, timestamp, service, ...members })}\n`)
  }
  return {
    arrival(arrival) {
      write('DEBUG', 'arrival', arrival)
    },
    signIn(record) {
      write('INFO', 'sign-in', { ...record, ...asMetric(Date.now()) })
    },
    request({ error, ...record }: RequestRecord) {
      if (error === undefined) write('INFO', 'request', record)
      else write('ERROR', 'request', { ...record, error: describeError(error) })
    },
  }
}
