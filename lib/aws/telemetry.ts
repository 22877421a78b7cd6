import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import type { RequestRecord, Telemetry } from '../http/request.ts'

/** Structured log lines and embedded metrics on standard output, where Lambda picks both up without a call. */
export const createTelemetry = (serviceName: string, logLevel: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'): Telemetry => {
  const logger = new Logger({ serviceName, logLevel })
  const metrics = new Metrics({ namespace: 'SiteAdmin', serviceName })

  return {
    request({ error, ...record }: RequestRecord) {
      if (error === undefined) logger.info('request', { ...record })
      else logger.error('request', { ...record, error })
      metrics.addDimension('operation', record.operation)
      metrics.addMetric('duration', MetricUnit.Milliseconds, record.durationMs)
      metrics.addMetric('clientError', MetricUnit.Count, record.status >= 400 && record.status < 500 ? 1 : 0)
      metrics.addMetric('serverError', MetricUnit.Count, record.status >= 500 ? 1 : 0)
      metrics.publishStoredMetrics()
    },
  }
}
