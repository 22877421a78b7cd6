import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { createJournal } from '../../lib/aws/dynamodb/journal.ts'
import { type HistoryEntry, viewOfChange } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { openTestTables } from '../support/tables.ts'
import { templatesOf } from './support/synthesise.ts'

const { us } = templatesOf({ changeEvents: true })

/** The value that a pipe finds at a path of a record. */
const valueAt = (record: unknown, path: string): unknown =>
  path
    .replace(/^\$\./, '')
    .split(/\.|\[(\d+)\]/)
    .filter((step) => step !== undefined && step !== '')
    .reduce<unknown>((value, step) => (value as Readonly<Record<string, unknown>> | undefined)?.[step], record)

/** Fills in the template as an EventBridge pipe does: values inside quotes are escaped, so the result is valid JSON. */
const fill = (template: string, record: unknown): unknown =>
  JSON.parse(
    template.replaceAll(/<(\$[^>]+)>/g, (_, path: string) => {
      const value = valueAt(record, path)
      if (typeof value !== 'string') throw new Error(`The record has no text at ${path}`)
      return JSON.stringify(value).slice(1, -1)
    }),
  )

const site = 1001 as SiteId
const entries: readonly HistoryEntry[] = [
  { site, type: 'file.stored', subject: 'a "b" \\ ä/c', actor: 'ann', requestId: 'one', details: { names: ['x"y'] } },
  { site, type: 'form.created', subject: '', actor: 'admin:root' },
]

test('each new entry causes one event of CloudEvents 1.0, with the id of GET changes', async () => {
  const tables = await openTestTables()
  const ajv = new Ajv2020()
  addFormats.default(ajv)
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/change-event.schema.json'), 'utf8'))
  const isEvent = ajv.compile(schema)
  const dynamodb = tables.connect()
  const { record, history } = createJournal({ dynamodb, table: tables.names.journal })
  const [pipe = expect.fail('There is no pipe')] = Object.values(us.findResources('AWS::Pipes::Pipe'))
  const { InputTemplate, EventBridgeEventBusParameters } = pipe['Properties'].TargetParameters
  for (const entry of entries) {
    await record(entry)
    const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: tables.names.journal }))
    // The filter of the pipe in template.txt ignores items without a count, such as the start of a history.
    const [NewImage, ...others] = Items.filter(({ count }) => count !== undefined)
    expect([Items.length, others]).toEqual([2, []])
    const written = { eventName: 'MODIFY', dynamodb: { NewImage } }
    const event = fill(InputTemplate, written)
    expect(isEvent(event), JSON.stringify(isEvent.errors)).toBe(true)
    const [change] = (await history.before(site, undefined, 1)).map(viewOfChange)
    expect(event).toMatchObject({
      specversion: '1.0',
      id: change?.id,
      source: '/data-centres/us',
      type: entry.type,
      subject: `sites/1001/${entry.subject}`,
      time: change?.at,
      data: { site: '1001', subject: entry.subject, actor: entry.actor, requestId: entry.requestId ?? '' },
    })
    const { data } = event as { readonly data: { readonly details: string } }
    expect(JSON.parse(data.details)).toEqual(entry.details ?? {})
    expect(valueAt(written, EventBridgeEventBusParameters.DetailType)).toBe(entry.type)
  }
  await tables.close()
})
