import { onDemand } from '../../core/cached-lookup.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Clock, Deadline } from '../../core/time.ts'
import type { SiteDirectory } from '../../sites/site-directory.ts'
import { listAll } from '../../storage/many-objects.ts'
import type { ObjectStore } from '../../storage/object-store.ts'
import { folderKey, root } from '../../storage/path.ts'
import { quotaExceeded, type SiteUsage, type UsageCounts } from '../../storage/quota.ts'
import { createDocumentClient, expression, type ItemChange, openTable, type TableOptions } from './dynamodb.ts'
import { getItems } from './path-locks.ts'

/**
 * The used bytes of a site, in the table PathLocks. During a recount, `since` adds up the bytes of placed files, and
 * `listed` the bytes up to the key `after`. `begun` and `counted` are the moments when a recount began and ended. Until
 * the first recount has ended, the quota does not apply. Each recount begins and ends an `epoch`. `removals` counts the
 * begins and releases of changes that take files away, and `undone` the changes that were undone.
 */
interface UsageItem {
  readonly site: number
  readonly path: string
  readonly used: number
  readonly since: number
  readonly epoch: number
  readonly removals?: number
  readonly undone?: number
  readonly counted?: number
  readonly begun?: number
  readonly after?: string
  readonly listed?: number
}

type Options = TableOptions & { readonly once?: TableOptions['dynamodb'] }

export const createUsageCounts = ({ once, now = Date.now, ...options }: Options) => {
  const table = openTable<UsageItem>(options)
  // This client never sends a call twice. It is created on demand, because only sites with a quota need it.
  const openOnce = onDemand(() =>
    openTable<UsageItem>({ ...options, dynamodb: once ?? createDocumentClient({ maxAttempts: 1 }) }),
  )
  const keyOf = (site: SiteId) => ({ site, path: 'usage' })

  const read = async (site: SiteId) => (await getItems(table, site, ['usage']))[0]

  const changeIn = (site: SiteId, epoch: number, change: ItemChange) =>
    table.update(keyOf(site), { ...change, condition: expression`#epoch = ${epoch}` })

  return {
    read,

    async bytesOf(site) {
      const item = await read(site)
      return item?.counted === undefined ? undefined : item.used
    },

    // The epoch is the time in milliseconds, so that no epoch is used twice.
    async prepare(site, isNew) {
      const item: UsageItem = { ...keyOf(site), used: 0, since: 0, epoch: now(), ...(isNew && { counted: now() }) }
      await table.put(item, isNew ? { condition: expression`attribute_not_exists(#path)` } : {})
    },

    async clear(site) {
      await table.take(keyOf(site))
    },

    async reserve(site, quota, bytes, placed, isRemoval) {
      const item = await table.update(keyOf(site), {
        add: { used: Math.max(bytes, 0), since: placed, removals: isRemoval ? 1 : 0, undone: 0 },
        condition: [bytes > 0 ? expression`attribute_not_exists(#counted) OR #used <= ${quota - bytes}` : undefined],
        returns: 'ALL_NEW',
      })
      if (item) {
        const { epoch, removals, undone, begun } = item
        return { site, epoch, removals, undone: isRemoval ? undone : undefined, isRecounting: begun !== undefined }
      }
      throw quotaExceeded(quota, (await read(site))?.used ?? 0)
    },

    async release({ site, epoch, undone }, bytes, replaced) {
      await openOnce().update(keyOf(site), {
        add: { used: -bytes, since: -replaced, removals: undone === undefined ? 0 : 1 },
        condition: [expression`#epoch = ${epoch}`, undone === undefined ? undefined : expression`#undone = ${undone}`],
      })
    },

    async undo({ site, epoch, removals }, bytes, lacking) {
      const condition = expression`#epoch = ${epoch} AND #removals = ${removals}`
      const undoing = bytes > 0 ? openOnce() : table
      // If the answer is lost, the count may be too high, but not too low.
      const isUndone = await undoing
        .update(keyOf(site), { add: { used: -bytes, undone: 1 }, condition })
        .catch(() => undefined)
      if (!isUndone && lacking > 0) await table.update(keyOf(site), { add: { used: lacking } })
    },

    begin: (site: SiteId, epoch: number) =>
      changeIn(site, epoch, { set: { since: 0, begun: now(), epoch: epoch + 1 } }),

    advance: (site: SiteId, epoch: number, listed: number, after: string) =>
      changeIn(site, epoch, { set: { listed, after } }),

    finish: (site: SiteId, epoch: number, bytes: number) =>
      changeIn(site, epoch, {
        set: {
          used: expression`#since + ${bytes}`,
          counted: now(),
          epoch: expression`#epoch + ${1}`,
          begun: undefined,
          listed: undefined,
          after: undefined,
        },
      }),
  } satisfies SiteUsage & UsageCounts & Readonly<Record<string, unknown>>
}

export interface RecountDeps {
  readonly sites: Pick<SiteDirectory, 'list'>
  readonly dataCentre: string
  readonly files: Pick<ObjectStore, 'list'>
  readonly counts: ReturnType<typeof createUsageCounts>
  readonly countOpenUploads: () => Promise<ReadonlyMap<number, number>>
  readonly clock: Pick<Clock, 'wall'>
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

const recountSite = async (deps: RecountDeps, site: SiteId, deadline: Deadline): Promise<void> => {
  const { counts, clock, countOpenUploads } = deps
  const state = await counts.read(site)
  if (state?.epoch === undefined) return counts.prepare(site, false)
  const { epoch, begun, counted = 0 } = state
  if (begun === undefined && clock.wall() - counted >= countedFor) await counts.begin(site, epoch)
  if (begun === undefined || clock.wall() - begun < settledAfter) return
  const bytes = await listBytes(deps, site, state, deadline)
  if (bytes !== undefined) await counts.finish(site, epoch, bytes + ((await countOpenUploads()).get(site) ?? 0))
}

/** Recounts each site with a quota once a day, in steps. The schedule runs this several times an hour. */
export const recountSites = async (deps: RecountDeps, deadline: Deadline): Promise<void> => {
  const { sites } = await deps.sites.list()
  const once = { ...deps, countOpenUploads: onDemand(deps.countOpenUploads) }
  for (const { id, quota, dataCentre } of sites) {
    if (quota !== undefined && dataCentre === deps.dataCentre) await recountSite(once, id, deadline)
    if (deadline.isOver()) return
  }
}
