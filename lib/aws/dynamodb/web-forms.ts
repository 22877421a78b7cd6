import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteCommand, GetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { ServiceError } from '../../core/errors.ts'
import { type SiteId, storedId, type WebFormId } from '../../core/ids.ts'
import { unlimited } from '../../core/remaining-time.ts'
import type { SystemField, WebForm, WebForms } from '../../fields/web-forms.ts'
import { type Allowance, inTime, timeToSettle } from '../calls/in-time.ts'
import { isConditionFailure, queryAll, type TableOptions } from './dynamodb.ts'
import { batchWrite } from './dynamodb-batches.ts'
import type { RecordChange } from './journal.ts'

/** Attribute names are short because they count towards the item: a full form stays below the 4 KB of one read unit. */
interface FieldItem {
  t: number
  n?: string
  m: boolean
  o: number
}

interface FormItem {
  site: number
  form: number
  name: string
  fields: FieldItem[]
  version: number
  /** Names the last changes, the newest first, so that a writer whose answer was lost recognises its own write. */
  changes: string[]
}

const toField = ({ t, n, m, o }: FieldItem): SystemField => ({
  typeId: t,
  ...(n !== undefined && { name: n }),
  mandatory: m,
  order: o,
})

const fromField = ({ typeId, name, mandatory, order }: SystemField): FieldItem => ({
  t: typeId,
  ...(name !== undefined && { n: name }),
  m: mandatory,
  o: order,
})

const toForm = (site: SiteId, { form, name, fields }: FormItem): WebForm => ({
  site,
  id: storedId<WebFormId>(form),
  name,
  fields: fields.map(toField),
})

type Apply = Parameters<WebForms['changeFields']>[2]

/** How many others may change a form before a writer whose answer was lost looks again. */
const rememberedChanges = 16

const nameChange = () => randomBytes(9).toString('base64url')

/** How long a writer keeps trying against others, in milliseconds. */
const patience = 8_000
const longestPause = 200

/**
 * Web forms in the table WebForms: one item for each, with all its fields. A change is one read and one conditional write, repeated from
 * the start when another writer came between, so that no change is lost.
 */
export const createWebForms = ({
  dynamodb: client,
  table,
  record,
}: TableOptions & { readonly record: RecordChange }): WebForms => {
  const read = async (site: number, form: number, consistent: boolean) => {
    const { Item } = await client.send(
      new GetCommand({ TableName: table, Key: { site, form }, ConsistentRead: consistent }),
    )
    return Item as FormItem | undefined
  }

  /** Answers whether this change took the form's next version. */
  const replaceFields = async (
    item: FormItem,
    fields: readonly SystemField[],
    change: string,
    { abortSignal }: Allowance,
  ): Promise<boolean> => {
    try {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: { site: item.site, form: item.form },
          UpdateExpression: 'SET #fields = :fields, #version = :next, #changes = :changes',
          ConditionExpression: '#version = :version',
          ExpressionAttributeNames: { '#fields': 'fields', '#version': 'version', '#changes': 'changes' },
          ExpressionAttributeValues: {
            ':fields': fields.map(fromField),
            ':version': item.version,
            ':next': item.version + 1,
            ':changes': [change, ...item.changes].slice(0, rememberedChanges),
          },
        }),
        { abortSignal },
      )
      return true
    } catch (error) {
      if (isConditionFailure(error)) return false
      // A call that was cut may have been carried out. If not, it never overwrites a newer version.
      if (abortSignal.aborted && (await read(item.site, item.form, true))?.changes.includes(change)) return true
      throw error
    }
  }

  /** One read and one conditional write. Overtaken: another writer came between the two. */
  const tryToChange = async (
    { site, id }: Pick<WebForm, 'site' | 'id'>,
    apply: Apply,
    change: string,
    allowance: Allowance,
  ): Promise<'changed' | 'unchanged' | 'overtaken'> => {
    const item = await read(site, id, true)
    if (!item) throw new ServiceError('webFormUnknown')
    // The store may have taken a write whose answer was lost; the client library's own repetition then finds the
    // version gone, although it was this very change that took it.
    if (item.changes.includes(change)) return 'changed'
    const before = item.fields.map(toField)
    const fields = apply(before)
    if (fields === before) return 'unchanged'
    allowance.check()
    return (await replaceFields(item, fields, change, allowance)) ? 'changed' : 'overtaken'
  }

  return {
    async get(site, id) {
      const item = await read(site, id, false)
      return item && toForm(site, item)
    },

    async list(site) {
      const items = await queryAll(client, {
        TableName: table,
        KeyConditionExpression: '#site = :site',
        ProjectionExpression: '#form, #name',
        ExpressionAttributeNames: { '#site': 'site', '#form': 'form', '#name': 'name' },
        ExpressionAttributeValues: { ':site': site },
      })
      return (items as FormItem[]).map(({ form, name }) => ({ id: storedId<WebFormId>(form), name }))
    },

    async listWhole(site, after, limit) {
      const forms: WebForm[] = []
      for (let last = after; forms.length < limit; ) {
        const { Items = [], LastEvaluatedKey } = await client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: '#site = :site AND #form > :last',
            ExpressionAttributeNames: { '#site': 'site', '#form': 'form' },
            ExpressionAttributeValues: { ':site': site, ':last': last },
            Limit: limit - forms.length,
            ConsistentRead: true,
          }),
        )
        forms.push(...(Items as FormItem[]).map((item) => toForm(site, item)))
        if (!LastEvaluatedKey) break
        last = Number(LastEvaluatedKey['form'])
      }
      return forms
    },

    async create({ site, id, name, fields }, entry) {
      const item: FormItem = { site, form: id, name, fields: fields.map(fromField), version: 1, changes: [] }
      try {
        await client.send(
          new PutCommand({ TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(form)' }),
        )
      } catch (error) {
        if (isConditionFailure(error)) return false
        throw error
      }
      await record(entry)
      return true
    },

    async rename(site, id, name, entry) {
      try {
        const { Attributes } = await client.send(
          new UpdateCommand({
            TableName: table,
            Key: { site, form: id },
            UpdateExpression: 'SET #name = :name',
            ConditionExpression: 'attribute_exists(form)',
            ExpressionAttributeNames: { '#name': 'name' },
            ExpressionAttributeValues: { ':name': name },
            ReturnValues: 'UPDATED_OLD',
          }),
        )
        if (Attributes?.['name'] === name) return
      } catch (error) {
        if (isConditionFailure(error)) throw new ServiceError('webFormUnknown')
        throw error
      }
      await record(entry)
    },

    async highestId(site) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'site = :site',
          ExpressionAttributeValues: { ':site': site },
          ScanIndexForward: false,
          Limit: 1,
          ConsistentRead: true,
        }),
      )
      return (Items[0] as FormItem | undefined)?.form ?? 0
    },

    async changeFields(site, id, apply, entry, remainingTime = unlimited) {
      const change = nameChange()
      const hasChanged = await inTime(remainingTime, timeToSettle, async (allowance) => {
        const deadline = Date.now() + patience
        for (let attempt = 0; Date.now() < deadline; attempt++) {
          const attempted = await tryToChange({ site, id }, apply, change, allowance)
          if (attempted !== 'overtaken') return attempted === 'changed'
          // Full jitter: writers that collided once do not meet again.
          await sleep(Math.random() * Math.min(longestPause, 5 * 2 ** attempt))
        }
        throw new ServiceError('unavailable')
      })
      if (hasChanged) await record(entry, remainingTime)
    },

    async remove(site, id, entry) {
      const { Attributes } = await client.send(
        new DeleteCommand({ TableName: table, Key: { site, form: id }, ReturnValues: 'ALL_OLD' }),
      )
      if (!Attributes) return false
      await record(entry)
      return true
    },

    async clear(site) {
      const forms = (await queryAll(client, {
        TableName: table,
        KeyConditionExpression: '#site = :site',
        ProjectionExpression: '#form',
        ExpressionAttributeNames: { '#site': 'site', '#form': 'form' },
        ExpressionAttributeValues: { ':site': site },
        ConsistentRead: true,
      })) as FormItem[]
      await batchWrite(
        { client, table },
        forms.map(({ form }) => ({ DeleteRequest: { Key: { site, form } } })),
      )
    },
  }
}
