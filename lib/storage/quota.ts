import { ServiceError } from '../core/errors.ts'
import type { SiteId } from '../core/ids.ts'

export const quotaExceeded = (quota: number, used: number): ServiceError =>
  new ServiceError('quotaExceeded', {
    message:
      `The site has a quota of ${quota} bytes, and ${used} of them are in use. Nothing was changed. ` +
      'Remove files, cancel open uploads, or ask the operator for a larger quota.',
  })

/** The used bytes of sites, for operators. Errors: unavailable. */
export interface SiteUsage {
  /** Undefined while nothing counts them. */
  bytesOf(site: SiteId): Promise<number | undefined>
  /** Call it before a site gets a quota. `isNew`: it has no files. */
  prepare(site: SiteId, isNew: boolean): Promise<void>
}
