import { utimes } from 'node:fs/promises'
import { ServiceError } from '../lib/core/errors.ts'
import { isDiskFull } from '../lib/core/system-failures.ts'

/** V-29: the service is ready after its start, as long as its disk has free space and accepts changes. */
export const createReadiness = (dataDirectory: string) => {
  let hasStarted = false
  return {
    started(): void {
      hasStarted = true
    },

    async check(): Promise<void> {
      if (!hasStarted) throw new ServiceError('unavailable')
      if (isDiskFull(dataDirectory)) throw new ServiceError('outOfSpace')
      const now = new Date()
      await utimes(dataDirectory, now, now).catch((cause: unknown) => {
        throw new ServiceError('unavailable', { cause })
      })
    },
  }
}
