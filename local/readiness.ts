import { ServiceError } from '../lib/core/errors.ts'
import { isDiskFull } from '../lib/core/system-failures.ts'

/** V-29: the service is ready after its start, as long as its disk has free space. */
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
