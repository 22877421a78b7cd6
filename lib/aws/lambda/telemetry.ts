import { Logger } from '@aws-lambda-powertools/logger'
import type { EdgeSettings } from '../../config/config.ts'
import type { RequestRecord, Telemetry } from '../../http/request.ts'

/**
 * Structured log lines on standard output, where Lambda picks them up without a call; the dashboard makes its figures of them. At
 * `DEBUG` a request is told of when it arrives as well: one without a second line is one that its function did not survive.
 */
export const createTelemetry = (serviceName: string, logLevel: EdgeSettings['logLevel']): Telemetry => {
  const logger = new Logger({ serviceName, logLevel })
  return {
    arrival(arrival) {
      logger.debug('arrival', { ...arrival })
    },
    request({ error, ...record }: RequestRecord) {
      if (error === undefined) logger.info('request', { ...record })
      else logger.error('request', { ...record, error })
    },
  }
}
