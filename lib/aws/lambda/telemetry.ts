import { Logger } from '@aws-lambda-powertools/logger'
import type { EdgeSettings } from '../../config/config.ts'
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
 * arrival: if its second line is missing, the request has crashed its function.
 */
export const createTelemetry = (serviceName: string, logLevel: EdgeSettings['logLevel']): Telemetry => {
  const logger = new Logger({ serviceName, logLevel })
  return {
    arrival(arrival) {
      logger.debug('arrival', { ...arrival })
    },
    signIn(record) {
      logger.info('sign-in', { ...record, ...asMetric(Date.now()) })
    },
    request({ error, ...record }: RequestRecord) {
      if (error === undefined) logger.info('request', { ...record })
      else logger.error('request', { ...record, error })
    },
  }
}
