import type { SiteId } from '../core/ids.ts'
import type { Deadline } from '../core/time.ts'
import type { SiteDirectory } from '../sites/site-directory.ts'
import { listAll } from '../storage/many-objects.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import { folderKey, root } from '../storage/path.ts'
import type { RecountedUsage, UsageItem } from './dynamodb/usage-counts.ts'

export interface RecountDeps {
  readonly sites: Pick<SiteDirectory, 'list'>
  readonly dataCentre: string
  readonly files: Pick<ObjectStore, 'list'>
  readonly counts: RecountedUsage
  readonly openUploadsOf: (site: SiteId) => Promise<number>
  readonly now: () => number
}

// In milliseconds. A quota is known everywhere within a minute, and a request lasts at most 15 minutes. So this
// long after a recount began, all earlier changes have ended, and all later changes were counted.
const settledAfter = 17 * 60_000
const countedFor = 24 * 3600_000

// Lists keys in their order until the deadline. The next run continues after the last key. Undefined when the list is
// not complete yet.
const listBytes = async (
  { files, counts }: RecountDeps,
  site: SiteId,
  { epoch, after, listed = 0 }: UsageItem,
  deadline: Deadline,
): Promise<number | undefined> => {
  let [last, bytes] = [after, listed]
  for (const edition of ['draft', 'live'] as const) {
    for await (const objects of listAll(files, folderKey(edition, site, root), last)) {
      for (const { key, size } of objects) [last, bytes] = [key, bytes + size]
      if (!deadline.isOver() || objects.length === 0 || last === undefined) continue
      await counts.advance(site, epoch, bytes, last)
      return undefined
    }
  }
  return bytes
}

// One step: begins the recount of a site or, when all earlier changes have ended, lists its files.
const recountSite = async (deps: RecountDeps, site: SiteId, deadline: Deadline): Promise<void> => {
  const { counts, now, openUploadsOf } = deps
  const state = await counts.read(site)
  if (state?.epoch === undefined) return counts.prepare(site, false)
  const { epoch, begun, counted = 0 } = state
  if (begun === undefined) {
    if (now() - counted >= countedFor) await counts.begin(site, epoch)
    return
  }
  if (now() - begun < settledAfter) return
  const bytes = await listBytes(deps, site, state, deadline)
  if (bytes !== undefined) await counts.finish(site, epoch, bytes + (await openUploadsOf(site)))
}

/** Recounts each site with a quota once a day, in steps. The schedule runs this several times an hour. */
export const recountSites = async (deps: RecountDeps, deadline: Deadline): Promise<void> => {
  const { sites } = await deps.sites.list()
  for (const { id, quota, dataCentre } of sites) {
    if (quota !== undefined && dataCentre === deps.dataCentre) await recountSite(deps, id, deadline)
    if (deadline.isOver()) return
  }
}
