import { onDemand } from '../../core/cached-lookup.ts'
import type { SiteId } from '../../core/ids.ts'
import type { Clock, Deadline } from '../../core/time.ts'
import type { SiteDirectory } from '../../sites/site-directory.ts'
import { listAll } from '../../storage/many-objects.ts'
import type { ObjectStore } from '../../storage/object-store.ts'
import { folderKey, root } from '../../storage/path.ts'
import { quotaExceeded, type SiteUsage, type UsageCounts } from '../../storage/quota.ts'
import {
  type Attributes,
  createDocumentClient,
  type Expression,
  expression,
  openTable,
  type TableOptions,
} from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'
import { getItems, type PathItem } from './path-locks.ts'
import { createMark, isOwnWrite } from './write-mark.ts'

/**
 * The used bytes of a site, in the table PathLocks. During a recount, `since` adds up the bytes of placed files, and
 * `listed` the bytes up to the key `after`. `begun` and `counted` are the moments when a recount began and ended. Until
 * the first recount has ended, the quota does not apply. Each recount begins and ends an `epoch`. `removals` counts the
 * begins and releases of changes that take files away, and `undone` the changes that were undone.
 */
interface UsageItem extends PathItem {
  readonly used: number
  readonly since: number
  readonly epoch: number
  readonly removals?: number
  readonly undone?: number
  readonly counted?: number
  readonly begun?: number
  readonly after?: string
  readonly listed?: number
  readonly mark?: string
}

type Options = TableOptions & { readonly once?: TableOptions['dynamodb'] }

export const createUsageCounts = ({ once, now = Date.now, ...options }: Options) => {
  const table = openTable<UsageItem>(options)
  // This client never sends a call twice. It is created on demand, because only sites with a quota need it.
  const clientOnce = onDemand(() => once ?? createDocumentClient({ maxAttempts: 1 }))
  const keyOf = (site: SiteId) => ({ site, path: 'usage' })

  const read = async (site: SiteId) => (await getItems(table, site, ['usage']))[0]

  return {
    readAll: (sites: readonly SiteId[]) => batchGet(table, sites.map(keyOf)),

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

    async reserve(site, quota, { bytes, limited = bytes, placed = bytes, isRemoval = false }) {
      const mark = createMark()
      const reserved = await table.update(keyOf(site), {
        set: { mark },
        add: { used: bytes, since: placed, removals: isRemoval ? 1 : 0, undone: 0 },
        condition: [
          expression`(attribute_not_exists(#mark) OR #mark <> ${mark})`,
          limited > 0 ? expression`(attribute_not_exists(#counted) OR #used <= ${quota - limited})` : undefined,
        ],
        returns: 'ALL_NEW',
      })
      const item = reserved ?? (await read(site))
      if (!item || !(reserved || isOwnWrite(mark, item.mark))) throw quotaExceeded(quota, item?.used ?? 0)
      const { epoch, removals, undone, begun } = item
      // If the answer is lost, the count may be too high, but not too low.
      const takeBack = (add: Attributes, condition?: Expression) => {
        const mayRepeat = add['used'] === 0 && !add['since']
        const from = mayRepeat ? table : openTable<UsageItem>({ ...options, dynamodb: clientOnce() })
        const change = { add, condition: [expression`#epoch = ${epoch}`, condition] }
        return from.update(keyOf(site), change).catch(() => undefined)
      }
      return {
        async release(bytes, replaced = 0) {
          if (bytes === 0 && (replaced === 0 || begun === undefined)) return
          const add = { used: -bytes, since: -replaced, removals: isRemoval ? 1 : 0 }
          await takeBack(add, isRemoval ? expression`#undone = ${undone}` : undefined)
        },

        async undo(bytes) {
          if (bytes > 0) await takeBack({ used: -bytes, undone: 1 }, expression`#removals = ${removals}`)
        },
      }
    },

    setIn: (site: SiteId, epoch: number, set: Attributes) =>
      table.update(keyOf(site), { set, condition: expression`#epoch = ${epoch}` }),
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

interface Recount {
  readonly site: SiteId
  readonly state: UsageItem | undefined
}

// The longest wait comes first. A site that has used up the time of a run comes after the others for a day.
const orderOf = ({ state }: Recount): number =>
  (state?.begun ?? state?.counted ?? 0) + (state?.after === undefined ? 0 : countedFor)

const findRecounts = async ({ sites, dataCentre, counts }: RecountDeps): Promise<readonly Recount[]> => {
  const limited = (await sites.list()).sites.filter(
    (site) => site.quota !== undefined && site.dataCentre === dataCentre,
  )
  const ids = limited.map(({ id }) => id)
  const states = new Map((await counts.readAll(ids)).map((state) => [state.site, state]))
  const recounts = ids.map((site) => ({ site, state: states.get(site) }))
  return recounts.toSorted((one, other) => orderOf(one) - orderOf(other))
}

// Lists keys in their order until the deadline. The next run continues after the last key.
const recountSite = async (deps: RecountDeps, { site, state }: Recount, deadline: Deadline): Promise<unknown> => {
  const { counts, files, clock, countOpenUploads } = deps
  if (state?.epoch === undefined) return counts.prepare(site, false)
  const { epoch, begun, counted = 0, after, listed = 0 } = state
  const now = clock.wall()
  if (begun === undefined) {
    const isDue = now - counted >= countedFor
    return isDue && counts.setIn(site, epoch, { epoch: epoch + 1, since: 0, begun: now, mark: undefined })
  }
  if (now - begun < settledAfter) return undefined
  let bytes = listed
  for (const edition of ['draft', 'live'] as const) {
    for await (const objects of listAll(files, folderKey(edition, site, root), after)) {
      bytes += objects.reduce((sum, { size }) => sum + size, 0)
      const last = objects.at(-1)
      if (last && deadline.isOver()) return counts.setIn(site, epoch, { listed: bytes, after: last.key })
    }
  }
  const used = expression`#since + ${bytes + ((await countOpenUploads()).get(site) ?? 0)}`
  const recount = { mark: undefined, begun: undefined, listed: undefined, after: undefined }
  return counts.setIn(site, epoch, { ...recount, epoch: epoch + 1, used, counted: clock.wall() })
}

/**
 * Recounts each site with a quota once a day, in steps. The schedule runs this several times an hour. After the failure
 * of a site, it continues with the next site, and throws the failure at its end.
 */
export const recountSites = async (deps: RecountDeps, deadline: Deadline): Promise<void> => {
  const once = { ...deps, countOpenUploads: onDemand(deps.countOpenUploads) }
  const failures: unknown[] = []
  for (const recount of await findRecounts(deps)) {
    try {
      await recountSite(once, recount, deadline)
    } catch (error) {
      console.error(`The recount of the site ${recount.site} failed. The next run repeats it:`, error)
      failures.push(error)
    }
    if (deadline.isOver()) break
  }
  if (failures.length > 0) throw failures[0]
}
