import { randomUUID } from 'node:crypto'
import { GetCommand, PutCommand, QueryCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { ServiceError } from '../../core/errors.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { unlimited } from '../../core/remaining-time.ts'
import {
  entryOfRemoval,
  type FolderRemovals,
  longestSilence,
  type OpenRemoval,
  type RemovalTask,
} from '../../storage/folder-removals.ts'
import { root, type StoragePath, toStoragePath } from '../../storage/path.ts'
import type { Workflows } from '../../storage/workflows.ts'
import { inTime, timeToAnswer } from '../calls/in-time.ts'
import { isConditionFailure, type TableOptions } from './dynamodb.ts'
import { batchGet } from './dynamodb-batches.ts'
import type { RecordChange } from './journal.ts'
import { createWorkflows } from './workflow-locks.ts'

/** Folders as seen at one moment, for whoever puts something into them: it looks before, and once more after. */
export interface FolderWatch {
  /** Whether one of them is being removed. */
  readonly isGoing: boolean
  /** Whether a removal of one of them has begun since: it may have taken along what was put there, even if it has ended. */
  hasChanged(): Promise<boolean>
}

export interface WatchedRemovals extends FolderRemovals {
  /** `holding` is the hold of whoever watches: the folder is not going for him. */
  watch(site: SiteId, folders: readonly StoragePath[], holding?: string): Promise<FolderWatch>
}

export interface PathLocks {
  readonly workflows: Workflows
  readonly removals: WatchedRemovals
}

interface Options extends TableOptions {
  readonly record: RecordChange
  /** How long what was removed is kept, in days. */
  readonly keptDays?: number
  /** The wall clock. */
  readonly now?: () => number
}

interface Item {
  site: number
  path: string
  id?: string
  closed?: boolean
  /** Whether it is held, while it is restored, until a moment in epoch milliseconds: it is over by then. */
  hold?: boolean
  until?: number
  /** When a worker was last heard of, in epoch milliseconds. */
  heard?: number
  /** What the history will say of a removal, and how many objects its workers have removed. */
  entry?: HistoryEntry
  removed?: number
  /** When a removal began, in epoch milliseconds. */
  began?: number
  /** In epoch seconds. */
  expires?: number
}

/** A removal as it is stored: with the worker that holds it until a moment in epoch milliseconds, and the attempt by which it took it. */
interface StoredRemoval {
  readonly path: StoragePath
  readonly id: string
  readonly closed: boolean
  readonly isHold: boolean
  readonly heard: number
  readonly holder: string
  readonly until: number
  readonly attempt: string
}

/** One table, several kinds of items; a path can be no kind's prefix, as each begins with its own (workflows: `workflow#`). */
const removalPrefix = 'removal#'
const noteKey = (path: StoragePath) => `removed#${path}`
const removalKey = (path: StoragePath) => `${removalPrefix}${path}`

/** How long a closed removal is kept, so that what began before it still sees it; in seconds. */
const closedFor = 24 * 3600

/**
 * The table PathLocks: what keeps a path from being changed. That is a running workflow of a page, or a removal of a folder that may
 * take longer than a request; removals that are closed stay for a day. Everything is read consistently.
 */
export const createPathLocks = ({
  dynamodb: client,
  table,
  record,
  keptDays = 30,
  now = Date.now,
}: Options): PathLocks => {
  const keptFor = keptDays * 24 * 3600
  /** `isOpen`: whether only removals and holds count that are not over. */
  const isAnyBelow = async (site: SiteId, key: string, folder: StoragePath, isOpen = false): Promise<boolean> => {
    const prefix = folder === root ? key : `${key}/`
    const open = {
      FilterExpression: '#closed = :false AND (attribute_not_exists(#hold) OR #until > :now)',
      names: { '#closed': 'closed', '#hold': 'hold', '#until': 'until' },
      values: { ':false': false, ':now': now() },
    }
    let start: Record<string, unknown> | undefined
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: '#site = :site AND begins_with(#path, :prefix)',
          ...(isOpen && { FilterExpression: open.FilterExpression }),
          ExpressionAttributeNames: { '#site': 'site', '#path': 'path', ...(isOpen && open.names) },
          ExpressionAttributeValues: { ':site': site, ':prefix': prefix, ...(isOpen && open.values) },
          ConsistentRead: true,
          ExclusiveStartKey: start,
        }),
      )
      if (Items.length > 0) return true
      start = LastEvaluatedKey
    } while (start)
    return false
  }

  const getItems = (site: SiteId, paths: readonly string[]) =>
    batchGet(
      { client, table },
      [...new Set(paths)].map((path) => ({ site, path })),
      { ConsistentRead: true },
    )

  /** The removals of these very folders, open or closed. */
  const removalsOf = async (site: SiteId, folders: readonly StoragePath[]): Promise<StoredRemoval[]> =>
    (await getItems(site, folders.map(removalKey))).map(
      ({ path, id, closed, hold, heard, holder, until, attempt }) => ({
        path: toStoragePath(String(path).slice(removalPrefix.length)),
        id: String(id),
        closed: closed === true || (hold === true && Number(until) <= now()),
        isHold: hold === true,
        heard: Number(heard ?? 0),
        holder: String(holder ?? ''),
        until: Number(until ?? 0),
        attempt: String(attempt ?? ''),
      }),
    )

  const openOf = async (site: SiteId, folders: readonly StoragePath[]): Promise<OpenRemoval[]> => {
    const silent = now() - longestSilence
    return (await removalsOf(site, folders)).flatMap(({ path, id, closed, heard, isHold }) =>
      closed ? [] : [{ path, id, isTended: heard > silent, isHold }],
    )
  }

  /** Changes a removal on a condition. Answers what it was before; undefined when the condition did not hold. */
  const updateRemoval = async (
    { site, path, id }: RemovalTask,
    {
      names,
      values,
      ...change
    }: Pick<UpdateCommandInput, 'UpdateExpression' | 'ConditionExpression'> & {
      readonly names: readonly string[]
      readonly values: Readonly<Record<string, unknown>>
    },
  ): Promise<Partial<Item> | undefined> => {
    try {
      const { Attributes = {} } = await client.send(
        new UpdateCommand({
          TableName: table,
          Key: { site, path: removalKey(path) },
          ReturnValues: 'ALL_OLD',
          ...change,
          ExpressionAttributeNames: Object.fromEntries(['id', ...names].map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: { ':id': id, ...values },
        }),
      )
      return Attributes
    } catch (error) {
      if (isConditionFailure(error)) return undefined
      throw error
    }
  }

  /** The removal of a folder, if it was closed by that call. */
  const closedBy = async (site: SiteId, folder: StoragePath, closer: string): Promise<Partial<Item> | undefined> => {
    const key = { site, path: removalKey(folder) }
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))
    return Item?.['closer'] === closer ? Item : undefined
  }

  const note: FolderRemovals['note'] = async (site, folder, { from, to }, isPartial = false) => {
    const expires = Math.floor(now() / 1000) + keptFor
    const began = 'if_not_exists(#pending, :from)'
    await client.send(
      new UpdateCommand({
        TableName: table,
        Key: { site, path: noteKey(folder) },
        UpdateExpression:
          `SET #from = ${began}, #to = :to, #expires = :expires` +
          (isPartial ? `, #pending = ${began}` : ' REMOVE #pending'),
        ExpressionAttributeNames: { '#from': 'from', '#to': 'to', '#expires': 'expires', '#pending': 'pending' },
        ExpressionAttributeValues: { ':from': from, ':to': to, ':expires': expires },
      }),
    )
  }

  /** Puts a removal or a hold where there is none, or one that is over. */
  const putWhereFree = (item: Item) =>
    new PutCommand({
      TableName: table,
      Item: item,
      ConditionExpression: 'attribute_not_exists(#path) OR #closed = :true OR (#hold = :true AND #until <= :now)',
      ExpressionAttributeNames: { '#path': 'path', '#closed': 'closed', '#hold': 'hold', '#until': 'until' },
      ExpressionAttributeValues: { ':true': true, ':now': now() },
    })

  return {
    workflows: createWorkflows({ client, table, record, getItems, isAnyBelow }),

    removals: {
      async open(site, folder, id, entry, remainingTime = unlimited) {
        const put = putWhereFree({
          site,
          path: removalKey(folder),
          id,
          closed: false,
          heard: now(),
          began: now(),
          entry,
          removed: 0,
        })
        try {
          // One that was opened although its call was cut is closed by its message, when the folder is empty.
          await inTime(remainingTime, timeToAnswer, ({ abortSignal }) => client.send(put, { abortSignal }))
          return id
        } catch (error) {
          if (!isConditionFailure(error)) throw error
          const [removal] = await removalsOf(site, [folder])
          if (removal?.isHold && !removal.closed) throw new ServiceError('folderGoing')
          return removal?.id ?? id
        }
      },

      async take(task, holder, duration) {
        const time = now()
        const attempt = randomUUID()
        const isTaken = await updateRemoval(task, {
          UpdateExpression: 'SET #holder = :holder, #until = :until, #attempt = :attempt, #heard = :now',
          ConditionExpression: '#id = :id AND #closed = :false AND (attribute_not_exists(#until) OR #until <= :now)',
          names: ['closed', 'holder', 'until', 'attempt', 'heard'],
          values: { ':false': false, ':holder': holder, ':until': time + duration, ':attempt': attempt, ':now': time },
        })
        if (isTaken) return { outcome: 'taken' }
        const [removal] = await removalsOf(task.site, [task.path])
        if (!removal || removal.id !== task.id || removal.closed) return { outcome: 'over' }
        // The client has repeated a call whose answer was lost.
        if (removal.attempt === attempt) return { outcome: 'taken' }
        return { outcome: 'held', holder: removal.holder, left: Math.max(removal.until - time, 0) }
      },

      async giveBack(task, holder, removed) {
        await updateRemoval(task, {
          UpdateExpression: 'SET #heard = :now REMOVE #until ADD #removed :removed',
          ConditionExpression: '#id = :id AND #holder = :holder',
          names: ['holder', 'until', 'heard', 'removed'],
          values: { ':holder': holder, ':now': now(), ':removed': removed },
        })
      },

      async close(site, path, id, removed) {
        const closer = randomUUID()
        const closed = await updateRemoval(
          { site, path, id },
          {
            UpdateExpression: 'SET #closed = :true, #closer = :closer, #expires = :expires',
            ConditionExpression: '#id = :id AND #closed = :false',
            names: ['closed', 'closer', 'expires'],
            values: {
              ':true': true,
              ':false': false,
              ':closer': closer,
              ':expires': Math.floor(now() / 1000) + closedFor,
            },
          },
        )
        // If it does not hold, this one was closed before, and another removal of the same folder may have begun since; or the client has repeated
        // a call whose answer was lost.
        const before = closed ?? (await closedBy(site, path, closer))
        if (before?.began !== undefined) await note(site, path, { from: before.began, to: now() }).catch(() => {})
        if (before?.entry) await record(entryOfRemoval(before.entry, (before.removed ?? 0) + removed))
      },

      async hold(site, folder, id, duration) {
        const until = now() + duration
        const expires = Math.floor(until / 1000) + closedFor
        try {
          await client.send(
            putWhereFree({ site, path: removalKey(folder), id, closed: false, hold: true, until, expires }),
          )
          return true
        } catch (error) {
          if (!isConditionFailure(error)) throw error
          // The client has repeated a call whose answer was lost.
          return (await removalsOf(site, [folder])).some((removal) => removal.id === id)
        }
      },

      async release(site, path, id) {
        await updateRemoval(
          { site, path, id },
          {
            UpdateExpression: 'SET #closed = :true',
            ConditionExpression: '#id = :id',
            names: ['closed'],
            values: { ':true': true },
          },
        )
      },

      note,

      lastOf: async (site, folders) =>
        (await getItems(site, folders.map(noteKey)))
          .map(({ from, to }) => ({ from: Number(from), to: Number(to) }))
          .sort((one, other) => other.to - one.to),

      openOf,

      isOpenBelow: (site, folder) => isAnyBelow(site, removalKey(folder), folder, true),

      async watch(site, folders, holding) {
        const before = await removalsOf(site, folders)
        const known = new Set(before.map(({ id }) => id))
        return {
          isGoing: before.some(({ closed, id }) => !closed && id !== holding),
          hasChanged: async () => (await removalsOf(site, folders)).some(({ id }) => !known.has(id)),
        }
      },
    },
  }
}
