import type { Answer } from '../../lib/contract/contract.ts'
import type { removedPage, trashPage, versionPage } from '../../lib/contract/storage/contract-schemas.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { Change, ChangeType } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { inParallel } from '../../lib/core/in-parallel.ts'
import { foreignCursor, readCursor, writeCursor } from '../../lib/core/pages.ts'
import { reserves } from '../../lib/core/time.ts'
import { type ChangeFilter, changesBefore } from '../../lib/history/history.ts'
import { ok } from '../../lib/http/reply.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { findInTrash } from '../../lib/storage/changes/restore.ts'
import type { ObjectVersion, RemovedEntry } from '../../lib/storage/object-store.ts'
import { fileKey, folderKey, root, type StoragePath } from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import { describablePath, operation, pageOf, readablePath, timeOf } from './params.ts'

const viewOfVersion = ({ id, at, size, isRemoved, isCurrent }: ObjectVersion) => ({
  version: id,
  at: timeOf(at),
  size,
  removed: isRemoved,
  current: isCurrent,
})

export const listVersions = operation({ params: readablePath, query: pageOf }, async (input, deps) => {
  const { path } = input.params
  const { limit, cursor } = input.query
  if (path === root) throw new ServiceError('notAFile')
  const after = cursor === undefined ? undefined : readCursor(cursor, ['version'], 'storageRefused').after
  const page = await deps.files.versions(fileKey('live', input.site.id, path), { limit, after })
  if (!page) throw storageRefused('The version that this cursor names is no longer kept. List again without a cursor.')
  const { versions, next } = page
  if (versions.length === 0 && after === undefined) {
    const isFolder = await deps.files.exists(folderKey('live', input.site.id, path))
    throw new ServiceError(isFolder ? 'notAFile' : 'fileUnknown')
  }
  return ok<Answer<typeof versionPage>>({
    versions: versions.map(viewOfVersion),
    ...(next !== undefined && { cursor: writeCursor({ by: 'version', after: next }) }),
  })
})

const viewOfRemoved = ({ key, removedAt, size }: RemovedEntry, prefix: string) => ({
  name: key.slice(prefix.length).replace(/\/$/, ''),
  type: size === null ? ('folder' as const) : ('file' as const),
  removedAt: timeOf(removedAt),
  size,
})

export const listDeleted = operation({ params: readablePath, query: pageOf }, async (input, { files }) => {
  const { path } = input.params
  const { limit, cursor } = input.query
  const prefix = folderKey('live', input.site.id, path)
  const after = cursor === undefined ? undefined : `${prefix}${readCursor(cursor, ['name'], 'storageRefused').after}`
  const { entries, next } = await files.listRemoved({ prefix, limit, after })
  const isNothing = entries.length === 0 && next === undefined && after === undefined
  if (isNothing && path !== root && !(await files.exists(prefix))) throw new ServiceError('fileUnknown')
  return ok<Answer<typeof removedPage>>({
    deleted: entries.map((entry) => viewOfRemoved(entry, prefix)),
    ...(next !== undefined && { cursor: writeCursor({ by: 'name', after: next.slice(prefix.length) }) }),
  })
})

type Item = Answer<typeof trashPage>['deleted'][number]

// Each item costs calls of the store.
const mostItems = 100
const callsAtOnce = 16
// Each round reads up to 10,000 entries of the history.
const mostRounds = 5

// Clocks differ, and S3 counts whole seconds. If an entry is older than the found removal by more than this time, it
// belongs to an earlier removal. Positions follow the time, and never decrease if the clock is set back.
const tolerance = 5_000
const momentOf = ({ at = 0, position = 0 }: Partial<Change> = {}) => Math.max(at, position / 1_000)

const types: readonly ChangeType[] = ['file.removed', 'folder.removed']

const itemsOf = async (deps: StorageDeps, changes: readonly Change[]): Promise<readonly Item[]> => {
  const found = new Map<Change, Item>()
  await inParallel(changes, callsAtOnce, async (change) => {
    const type = change.type === 'folder.removed' ? 'folder' : 'file'
    const path = change.subject as StoragePath
    const item = await findInTrash(deps, change.site, path, type)
    if (!item || item.goneAt > momentOf(change) + tolerance) return
    found.set(change, { path, type, size: item.size, removedAt: timeOf(change.at), removedBy: change.actor })
  })
  return changes.flatMap((change) => found.get(change) ?? [])
}

// `findInTrash` decides whether the file or the folder of a path is the later removal.
const thingIn = ({ type, subject }: Change): string => `${type} ${subject}`

const entriesAtOnce = 100
const mostEntries = 10_000

/**
 * The things of the entries that are newer than a cursor by at most the tolerance. Earlier pages list their removals,
 * and an older entry of the same path would find the same removal again.
 */
const thingsAfter = async ({ history }: StorageDeps, site: SiteId, cursor: number): Promise<Set<string>> => {
  const things = new Set<string>()
  let position = cursor - 1
  let end: number | undefined
  for (let lookedAt = 0; lookedAt < mostEntries; lookedAt += entriesAtOnce) {
    const changes = await history.after(site, position, entriesAtOnce)
    end ??= momentOf(changes[0]) + tolerance
    for (const change of changes)
      if (momentOf(change) <= end && types.includes(change.type)) things.add(thingIn(change))
    const last = changes.at(-1)
    if (!last || momentOf(last) > end || changes.length < entriesAtOnce) break
    position = last.position
  }
  return things
}

const positionOfCursor = (cursor: string): number => {
  const position = Number(readCursor(cursor, ['change'], 'storageRefused').after)
  if (!Number.isSafeInteger(position)) throw foreignCursor('storageRefused')
  return position
}

/**
 * GET with `?deleted=all`: lists the files and folders that were removed in a folder and below it. The history names
 * them (H-37).
 */
export const listTrash = operation({ params: describablePath, query: pageOf }, async (input, deps) => {
  const { site, caller, params, deadline, query } = input
  const limit = Math.min(query.limit, mostItems)
  const filter: ChangeFilter = { types, subject: params.path === root ? '' : `${params.path}/`, rights: caller.rights }
  let before = query.cursor === undefined ? undefined : positionOfCursor(query.cursor)
  const end = deadline.reserving(reserves.preview)
  const deleted: Item[] = []
  const things = before === undefined ? new Set<string>() : await thingsAfter(deps, site.id, before)
  for (let round = 0; round === 0 || (before !== undefined && round < mostRounds && !end.isOver()); round++) {
    const page = await changesBefore(deps.history, site.id, { limit: limit - deleted.length, filter, before })
    const below = page.changes.filter(({ subject }) => subject !== params.path)
    const newest = below.filter((change) => !things.has(thingIn(change)) && things.add(thingIn(change)))
    deleted.push(...(await itemsOf(deps, newest)))
    before = page.next
    if (deleted.length === limit) break
  }
  return ok<Answer<typeof trashPage>>({
    deleted,
    ...(before !== undefined && { nextCursor: writeCursor({ by: 'change', after: String(before) }) }),
  })
})
