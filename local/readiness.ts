import { ServiceError } from '../lib/core/errors.ts'
import { isDiskFull } from '../lib/core/system-failures.ts'

/** V-29: the service is ready when its start has ended, and while its disk has space. */
export const createReadiness = (dataDirectory: string) => {
  let hasStarted = false
  return {
    started(): void {
      hasStarted = true
    },

    async check(): Promise<void> {
      if (!hasStarted) throw new ServiceError('unavailable')
      if (isDiskFull(dataDirectory)) throw new ServiceError('outOfSpace')
    },
  }
}
