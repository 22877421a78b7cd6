import { randomUUID } from 'node:crypto'
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { SiteId } from '../../core/ids.ts'
import { root, type StoragePath, toStoragePath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/workflows.ts'
import type { RecordChange } from './journal.ts'

const workflowPrefix = 'workflow#'
const workflowKey = (path: StoragePath) => `${workflowPrefix}${path}`
/** `$` follows `#`. */
const behindWorkflows = 'workflow$'
/** What comes right behind a key: no path has a control character. */
const justBehind = (key: string) => `${key}\u0001`
/** How many workflows are ended before the next ones are asked for, when a site goes. */
const workflowsTogether = 100

interface Options {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  readonly record: RecordChange
  /** The items of a site at these keys, read consistently. */
  readonly getItems: (site: SiteId, keys: readonly string[]) => Promise<readonly unknown[]>
  /** Whether there is an item of a kind below a folder, whose own key is that. */
  readonly isAnyBelow: (site: SiteId, key: string, folder: StoragePath) => Promise<boolean>
}

/** The running workflows of pages: an item of the table PathLocks for each. */
export const createWorkflows = ({ client, table, record, getItems, isAnyBelow }: Options): Workflows => {
  const listWorkflows: Workflows['list'] = async (site, after, limit) => {
    const pages: StoragePath[] = []
    for (let last = workflowKey(after ?? root); pages.length < limit; ) {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#site = :site AND #path BETWEEN :from AND :to',
          ExpressionAttributeNames: { '#site': 'site', '#path': 'path' },
          ExpressionAttributeValues: { ':site': site, ':from': justBehind(last), ':to': behindWorkflows },
          Limit: limit - pages.length,
          ConsistentRead: true,
        }),
      )
      pages.push(...Items.map(({ path }) => toStoragePath(String(path).slice(workflowPrefix.length))))
      if (!LastEvaluatedKey) break
      last = String(LastEvaluatedKey['path'])
    }
    return pages
  }

  return {
    async start(site, page, entry) {
      const id = randomUUID()
      const { Attributes } = await client.send(
        new PutCommand({
          TableName: table,
          Item: { site, path: workflowKey(page), id },
          ReturnValues: 'ALL_OLD',
        }),
      )
      // The client may have repeated a call whose answer was lost.
      if (!Attributes || Attributes['id'] === id) await record(entry)
    },

    async end(site, page, entry) {
      const { Attributes } = await client.send(
        new DeleteCommand({ TableName: table, Key: { site, path: workflowKey(page) }, ReturnValues: 'ALL_OLD' }),
      )
      if (!Attributes) return false
      await record(entry)
      return true
    },

    isRunning: async (site, pages) => (await getItems(site, pages.map(workflowKey))).length > 0,

    isRunningBelow: (site, folder) => isAnyBelow(site, workflowKey(folder), folder),

    list: listWorkflows,

    async clear(site) {
      for (let after: StoragePath | undefined; ; ) {
        const pages = await listWorkflows(site, after, workflowsTogether)
        for (const page of pages) {
          await client.send(new DeleteCommand({ TableName: table, Key: { site, path: workflowKey(page) } }))
        }
        if (pages.length < workflowsTogether) return
        after = pages.at(-1)
      }
    },
  }
}
