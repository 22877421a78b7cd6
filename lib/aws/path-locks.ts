import { DeleteCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { SiteId } from '../ids.ts'
import type { FolderRemovals, OpenRemoval } from '../storage/folder-removals.ts'
import { root, type StoragePath, toStoragePath } from '../storage/path.ts'
import type { Workflows } from '../storage/workflows.ts'
import { isConditionFailure, type TableOptions } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'

/** Folders as seen at one moment, for whoever puts something into them: it looks before, and once more after. */
export interface FolderWatch {
  /** Whether one of them is being removed. */
  readonly isGoing: boolean
  /** Whether a removal of one of them has begun since: it may have taken along what was put there, even if it has ended. */
  hasChanged(): Promise<boolean>
}

export interface WatchedRemovals extends FolderRemovals {
  watch(site: SiteId, folders: readonly StoragePath[]): Promise<FolderWatch>
}

export interface PathLocks {
  readonly workflows: Workflows
  readonly removals: WatchedRemovals
}

interface Options extends TableOptions {
  /** The wall clock. */
  readonly now?: () => number
}

interface Item {
  site: number
  path: string
  id?: string
  closed?: boolean
}

/** One table, two kinds of items; a path can be neither kind's prefix, as each begins with its own. */
const workflowKey = (path: StoragePath) => `workflow#${path}`
const removalPrefix = 'removal#'
const removalKey = (path: StoragePath) => `${removalPrefix}${path}`
const below = (key: string, path: StoragePath) => (path === root ? key : `${key}/`)

/** How long a closed removal is kept, so that what began before it still sees it; in seconds. */
const closedFor = 24 * 3600

/**
 * The table PathLocks: what keeps a path from being changed. That is a running workflow of a page, or a removal of a folder that may
 * take longer than a request; removals that are closed stay for a day. Everything is read consistently.
 */
export const createPathLocks = ({ dynamodb: client, table, now = Date.now }: Options): PathLocks => {
  const isAnyBelow = async (site: SiteId, prefix: string, filter?: string): Promise<boolean> => {
    let start: Record<string, unknown> | undefined
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#site = :site AND begins_with(#path, :prefix)',
          ...(filter && { FilterExpression: filter }),
          ExpressionAttributeNames: { '#site': 'site', '#path': 'path', ...(filter && { '#closed': 'closed' }) },
          ExpressionAttributeValues: { ':site': site, ':prefix': prefix, ...(filter && { ':false': false }) },
          ConsistentRead: true,
          ExclusiveStartKey: start,
        }),
      )
      if (Items.length > 0) return true
      start = LastEvaluatedKey
    } while (start)
    return false
  }

  const getItems = async (site: SiteId, paths: readonly string[]) => {
    const keys = [...new Set(paths)].map((path) => ({ site, path }))
    const items = await batchGet({ client, table }, keys, { ConsistentRead: true })
    return items.map(({ path, id = '', closed }) => ({ path: String(path), id: String(id), closed: closed === true }))
  }

  /** The removals of these very folders, open or closed. */
  const removalsOf = async (site: SiteId, folders: readonly StoragePath[]) =>
    (await getItems(site, folders.map(removalKey))).map(({ path, id, closed }) => ({
      path: toStoragePath(path.slice(removalPrefix.length)),
      id,
      closed,
    }))

  const openOf = async (site: SiteId, folders: readonly StoragePath[]): Promise<OpenRemoval[]> =>
    (await removalsOf(site, folders)).flatMap(({ path, id, closed }) => (closed ? [] : [{ path, id }]))

  return {
    workflows: {
      async start(site, page) {
        await client.send(new PutCommand({ TableName: table, Item: { site, path: workflowKey(page) } satisfies Item }))
      },

      async end(site, page) {
        const { Attributes } = await client.send(
          new DeleteCommand({ TableName: table, Key: { site, path: workflowKey(page) }, ReturnValues: 'ALL_OLD' }),
        )
        return Attributes !== undefined
      },

      isRunning: async (site, pages) => (await getItems(site, pages.map(workflowKey))).length > 0,

      isRunningBelow: (site, folder) => isAnyBelow(site, below(workflowKey(folder), folder)),
    },

    removals: {
      async open(site, folder, id) {
        try {
          await client.send(
            new PutCommand({
              TableName: table,
              Item: { site, path: removalKey(folder), id, closed: false } satisfies Item,
              ConditionExpression: 'attribute_not_exists(#path) OR #closed = :true',
              ExpressionAttributeNames: { '#path': 'path', '#closed': 'closed' },
              ExpressionAttributeValues: { ':true': true },
            }),
          )
          return id
        } catch (error) {
          if (!isConditionFailure(error)) throw error
          const [item] = await getItems(site, [removalKey(folder)])
          return item?.id || id
        }
      },

      async close(site, folder, id) {
        try {
          await client.send(
            new UpdateCommand({
              TableName: table,
              Key: { site, path: removalKey(folder) },
              UpdateExpression: 'SET #closed = :true, #expires = :expires',
              ConditionExpression: '#id = :id',
              ExpressionAttributeNames: { '#closed': 'closed', '#expires': 'expires', '#id': 'id' },
              ExpressionAttributeValues: { ':true': true, ':id': id, ':expires': Math.floor(now() / 1000) + closedFor },
            }),
          )
        } catch (error) {
          // Another removal of the same folder has begun since: this one was closed long ago.
          if (!isConditionFailure(error)) throw error
        }
      },

      openOf,

      isOpenBelow: (site, folder) => isAnyBelow(site, below(removalKey(folder), folder), '#closed = :false'),

      async watch(site, folders) {
        const before = await removalsOf(site, folders)
        const known = new Set(before.map(({ id }) => id))
        return {
          isGoing: before.some(({ closed }) => !closed),
          hasChanged: async () => (await removalsOf(site, folders)).some(({ id }) => !known.has(id)),
        }
      },
    },
  }
}
