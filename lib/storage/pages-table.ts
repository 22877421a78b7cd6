import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { isConditionFailure } from '../dynamodb.ts'
import type { SiteId } from '../ids.ts'
import { getMany } from './get-many.ts'
import { root, type StoragePath } from './path.ts'

/** A removal of a folder that may take longer than a request. Closed ones are kept for a day. */
interface Removal {
  readonly path: StoragePath
  readonly id: string
  readonly open: boolean
}

/** The Pages table: running workflows of pages, and removals of folders. Everything is read consistently. */
export interface PagesTable {
  startWorkflow(site: SiteId, page: StoragePath): Promise<void>
  /** Answers whether there was one. */
  endWorkflow(site: SiteId, page: StoragePath): Promise<boolean>
  /** Whether one of these pages has a running workflow. */
  hasWorkflow(site: SiteId, pages: readonly StoragePath[]): Promise<boolean>
  hasWorkflowBelow(site: SiteId, folder: StoragePath): Promise<boolean>

  /** Answers the removal that is open for the folder: a new one with that id, or the one that was there before. */
  openRemoval(site: SiteId, folder: StoragePath, id: string): Promise<string>
  closeRemoval(site: SiteId, folder: StoragePath, id: string): Promise<void>
  /** The removals, open and closed, of these very folders. */
  removalsOf(site: SiteId, folders: readonly StoragePath[]): Promise<Removal[]>
  hasOpenRemovalBelow(site: SiteId, folder: StoragePath): Promise<boolean>
}

interface Item {
  site: number
  path: string
  id?: string
  closed?: boolean
}

/** One table, two kinds of items; a path can be neither kind's prefix, as each begins with its own. */
const workflowKey = (path: StoragePath) => `workflow#${path}`
const removalKey = (path: StoragePath) => `removal#${path}`
const below = (key: string, path: StoragePath) => (path === root ? key : `${key}/`)

/** How long a closed removal is kept, so that what began before it still sees it; in seconds. */
const closedFor = 24 * 3600

export const createPagesTable = (client: DynamoDBDocumentClient, table: string, now = Date.now): PagesTable => {
  const find = async (site: SiteId, prefix: string, filter?: string): Promise<boolean> => {
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
  const getItems = async (site: SiteId, paths: readonly string[]) =>
    (await getMany(
      client,
      table,
      [...new Set(paths)].map((path) => ({ site, path })),
    )) as Item[]

  return {
    async startWorkflow(site, page) {
      await client.send(new PutCommand({ TableName: table, Item: { site, path: workflowKey(page) } satisfies Item }))
    },

    async endWorkflow(site, page) {
      const { Attributes } = await client.send(
        new DeleteCommand({ TableName: table, Key: { site, path: workflowKey(page) }, ReturnValues: 'ALL_OLD' }),
      )
      return Attributes !== undefined
    },

    hasWorkflow: async (site, pages) => (await getItems(site, pages.map(workflowKey))).length > 0,

    hasWorkflowBelow: (site, folder) => find(site, below(workflowKey(folder), folder)),

    async openRemoval(site, folder, id) {
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
        return item?.id ?? id
      }
    },

    async closeRemoval(site, folder, id) {
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

    async removalsOf(site, folders) {
      const items = await getItems(site, folders.map(removalKey))
      return items.map(({ path, id = '', closed = false }) => ({
        path: path.slice('removal#'.length) as StoragePath,
        id,
        open: !closed,
      }))
    },

    hasOpenRemovalBelow: (site, folder) => find(site, below(removalKey(folder), folder), '#closed = :false'),
  }
}
