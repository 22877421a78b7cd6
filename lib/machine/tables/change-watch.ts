import type { SiteId } from '../../core/ids.ts'
import type { Database } from '../sqlite/database.ts'
import { one } from '../sqlite/queries.ts'

// In milliseconds: changes of other processes are noticed after this time.
const period = 500

export const webhookChanges = 'webhooks'

type Watched = SiteId | typeof webhookChanges

/**
 * Knows when the history of a site may have grown (V-18, V-22). An entry is reported after its transaction, because a
 * transaction runs without pauses. A transaction that fails may be reported too.
 */
export const createChangeWatch = ({ connection, read }: Pick<Database, 'connection' | 'read'>) => {
  const checks = new Map<Watched, Set<() => void>>()
  const version = one<{ data_version: number }>('PRAGMA data_version')(connection)
  let known: number | undefined
  let timer: NodeJS.Timeout | undefined

  const checkSite = (site: Watched): void => {
    for (const check of checks.get(site) ?? []) check()
  }

  const lookForOthers = (): void => {
    read(() => {
      const present = version()?.data_version
      if (known !== undefined && present !== known) for (const site of checks.keys()) checkSite(site)
      known = present
    }).catch(() => {})
  }

  return {
    wrote(site: Watched): void {
      if (checks.has(site)) queueMicrotask(() => checkSite(site))
    },

    watch(site: Watched, check: () => void): () => void {
      const ofSite = checks.get(site) ?? new Set()
      checks.set(site, ofSite.add(check))
      if (!timer) {
        lookForOthers()
        timer = setInterval(lookForOthers, period).unref()
      }
      return () => {
        if (ofSite.delete(check) && ofSite.size === 0) checks.delete(site)
        if (checks.size > 0) return
        clearInterval(timer)
        timer = undefined
        known = undefined
      }
    },
  }
}

export type ChangeWatch = ReturnType<typeof createChangeWatch>
