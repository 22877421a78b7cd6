import { DeleteCommand, GetCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { inParallel } from '../../core/in-parallel.ts'
import type { Upload } from '../../storage/uploads/upload.ts'
import type { Progress, TakeOutcome, UploadRecords } from '../../storage/uploads/upload-records.ts'
import { isConditionFailure, type TableOptions } from './dynamodb.ts'
import { itemOf, type Stored, storedHolding, toUpload } from './upload-item.ts'

interface Options extends TableOptions {
  /** The wall clock. */
  readonly now?: (() => number) | undefined
}

/** In the table Uploads, beside the progress of tokens, whose keys are hashes. */
const recordKey = (id: string) => ({ token: `upload#${id}` })

/** The ids of the uploads that may be open, of one user of one site. */
const openKey = ({ site, user }: Pick<Upload, 'site' | 'user'>) => ({ token: `open#${site}#${user}` })

/** How long the list of open uploads outlives the last one that began, in seconds: an upload lives for six days at the most. */
const listKeptFor = 7 * 24 * 3600

/** How many records of a full list are looked at at once. */
const looksAtOnce = 16

/** The table removes what has expired, some time after it. */
const inSeconds = (moment: number): number => Math.ceil(moment / 1000)

/** One change of a record: the names it uses stand in it with `#`. */
interface Change {
  readonly set: string
  readonly condition: string
  readonly values: Readonly<Record<string, unknown>>
}

/**
 * The records of uploads in the table Uploads. One conditional update takes an upload at its expected offset, one writes down what is kept: a
 * death between the two loses nothing that was answered.
 */
export const createUploadRecords = ({ dynamodb: client, table, now = Date.now }: Options): UploadRecords => {
  const namesIn = (...expressions: readonly string[]) =>
    Object.fromEntries(
      expressions
        .join(' ')
        .match(/#\w+/g)
        ?.map((name) => [name, name.slice(1)]) ?? [],
    )

  /** Answers the item as it is then, or nothing when the condition does not hold. */
  const update = async (id: string, { set, condition, values }: Change): Promise<Stored | undefined> => {
    const command: UpdateCommandInput = {
      TableName: table,
      Key: recordKey(id),
      UpdateExpression: set,
      ConditionExpression: condition,
      ExpressionAttributeNames: namesIn(set, condition),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      ReturnValues: 'ALL_NEW',
    }
    try {
      return (await client.send(new UpdateCommand(command))).Attributes ?? {}
    } catch (error) {
      if (isConditionFailure(error)) return undefined
      throw error
    }
  }

  const find = async (id: string): Promise<Stored | undefined> => {
    const command = { TableName: table, Key: recordKey(id), ConsistentRead: true }
    return (await client.send(new GetCommand(command))).Item
  }

  /** Puts an id on the list of those that may be open. Answers false when that is full. */
  const list = async (upload: Upload, most: number): Promise<boolean> => {
    const command = {
      TableName: table,
      Key: openKey(upload),
      UpdateExpression: 'ADD #ids :id SET #expires = :expires',
      ConditionExpression: 'attribute_not_exists(#ids) OR size(#ids) < :most',
      ExpressionAttributeNames: { '#ids': 'ids', '#expires': 'expires' },
      ExpressionAttributeValues: {
        ':id': new Set([upload.id]),
        ':most': most,
        ':expires': inSeconds(now()) + listKeptFor,
      },
    }
    try {
      await client.send(new UpdateCommand(command))
      return true
    } catch (error) {
      if (isConditionFailure(error)) return false
      throw error
    }
  }

  const unlist = async (upload: Pick<Upload, 'site' | 'user'>, ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return
    await client.send(
      new UpdateCommand({
        TableName: table,
        Key: openKey(upload),
        UpdateExpression: 'DELETE #ids :ids',
        ExpressionAttributeNames: { '#ids': 'ids' },
        ExpressionAttributeValues: { ':ids': new Set(ids) },
      }),
    )
  }

  /** Takes off a full list what has expired or gone. */
  const prune = async (upload: Upload, moment: number): Promise<void> => {
    const command = { TableName: table, Key: openKey(upload), ConsistentRead: true }
    const { Item: item } = await client.send(new GetCommand(command))
    const ids: readonly string[] = item?.['ids'] instanceof Set ? [...item['ids']].map(String) : []
    const closed: string[] = []
    await inParallel(ids, looksAtOnce, async (id) => {
      const stored = await find(id)
      if (stored?.complete !== false || Number(stored.ends) <= moment) closed.push(id)
    })
    await unlist(upload, closed)
  }

  /** What has been noted of an upload, and is written down when its holder renews: so it costs no call of its own. */
  const noted = new Map<string, Progress>()
  const noteKey = (id: string, holder: string) => `${id} ${holder}`

  const changeOf = ({ offset, length, expires, holding }: Progress) => ({
    set: 'SET #offset = :offset, #length = :length, #ends = :ends, #expires = :expires, #holding = :holding',
    values: {
      ':offset': offset,
      ':length': length,
      ':ends': expires,
      ':expires': inSeconds(expires),
      ':holding': storedHolding(holding),
    },
  })

  return {
    async create(upload, most, moment) {
      if (!(await list(upload, most))) {
        await prune(upload, moment)
        if (!(await list(upload, most))) return false
      }
      const Item = { ...recordKey(upload.id), ...itemOf(upload), expires: inSeconds(upload.expires) }
      await client.send(new PutCommand({ TableName: table, Item }))
      return true
    },

    async get(id) {
      const stored = await find(id)
      return stored && toUpload(id, stored)
    },

    async take(id, offset, holder, duration): Promise<TakeOutcome> {
      const moment = now()
      const taken = await update(id, {
        set: 'SET #holder = :holder, #until = :until',
        // A call that is repeated because its answer was lost finds its own holder there.
        condition:
          '#offset = :offset AND #complete = :false AND (attribute_not_exists(#holder) OR #holder = :holder OR #until <= :now)',
        values: { ':holder': holder, ':until': moment + duration, ':offset': offset, ':false': false, ':now': moment },
      })
      if (taken) return { outcome: 'taken', upload: toUpload(id, taken) }
      const stored = await find(id)
      if (!stored) return { outcome: 'unknown' }
      const left = Number(stored['until'] ?? 0) - moment
      return stored['holder'] !== undefined && left > 0 ? { outcome: 'held', left } : { outcome: 'moved' }
    },

    async renew(id, holder, duration) {
      const note = noted.get(noteKey(id, holder))
      const values = { ':holder': holder, ':false': false, ':until': now() + duration }
      const renewal = { set: 'SET #until = :until', condition: '#holder = :holder AND #complete = :false', values }
      if (!note) return (await update(id, renewal)) !== undefined
      const progress = changeOf(note)
      const renewed = await update(id, {
        set: `${progress.set}, #until = :until`,
        // A call that comes late must not take back what has been kept since.
        condition: `${renewal.condition} AND #offset <= :offset`,
        values: { ...progress.values, ...values },
      })
      if (noted.get(noteKey(id, holder)) === note) noted.delete(noteKey(id, holder))
      return renewed !== undefined
    },

    async advance(id, holder, progress, keeps) {
      noted.delete(noteKey(id, holder))
      const { set: change, values } = changeOf(progress)
      const set = keeps ? change : `${change} REMOVE #holder, #until`
      const condition = '#holder = :holder AND #complete = :false'
      return (
        (await update(id, { set, condition, values: { ...values, ':holder': holder, ':false': false } })) !== undefined
      )
    },

    async note(id, holder, progress) {
      noted.set(noteKey(id, holder), progress)
    },

    async complete(id, expires) {
      const stored = await update(id, {
        set: 'SET #complete = :true, #ends = :ends, #expires = :expires, #holding = :null REMOVE #holder, #until',
        condition: '#complete = :false',
        values: { ':true': true, ':false': false, ':ends': expires, ':expires': inSeconds(expires), ':null': null },
      })
      if (stored) await unlist(toUpload(id, stored), [id])
    },

    async giveBack(id, holder) {
      noted.delete(noteKey(id, holder))
      await update(id, { set: 'REMOVE #holder, #until', condition: '#holder = :holder', values: { ':holder': holder } })
    },

    async remove(id) {
      const command = { TableName: table, Key: recordKey(id), ReturnValues: 'ALL_OLD' as const }
      const { Attributes } = await client.send(new DeleteCommand(command))
      if (!Attributes) return undefined
      const upload = toUpload(id, Attributes)
      await unlist(upload, [id])
      return upload.holding ?? undefined
    },
  }
}
