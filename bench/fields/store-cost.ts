import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createFieldsHandler } from '../../functions/fields/group.ts'
import { createFieldsDeps } from '../../lib/deps.ts'
import { fillDirectory, storesOver } from '../../test/support/every-operation.ts'
import { type Request, send } from '../../test/support/gateway.ts'
import { entry } from '../../test/support/history.ts'
import { onTables } from '../grounds.ts'
import { meter } from '../meter.ts'
import { type Table, verdict } from '../table.ts'
import { fullForm, listPath } from './full-form.ts'

const one = `${listPath}/-2`

type Asked = readonly [name: string, method: string, path: string, body: Request, reads: number, writes: number]

/** In this order, each leaves the form as the next one needs it. */
const requests: readonly Asked[] = [
  [`list of ${fullForm.fields.length}`, 'GET', listPath, {}, 1, 0],
  ['one field', 'GET', one, {}, 1, 0],
  ['update', 'PUT', one, { body: { mandatory: false, order: 9 } }, 1, 1],
  ['remove', 'DELETE', one, {}, 1, 1],
  ['create', 'POST', listPath, { body: { type: { id: -2 }, mandatory: true, order: 1 } }, 1, 1],
]

const measure = async (documents: DynamoDBDocumentClient): Promise<Table> => {
  const stores = storesOver(documents)
  const token = await fillDirectory(stores)
  await stores.webForms.create(fullForm, entry)
  const takeConsumed = meter(documents)
  const telemetry = { request: () => undefined }
  const handler = createFieldsHandler(createFieldsDeps({ dataCentre: 'us' }, stores, { telemetry }))
  const rows: (string | number)[][] = []
  for (const [name, method, path, body, reads, writes] of [...requests.slice(0, 1), ...requests]) {
    const { status, body: answer } = await send(handler, method, path, { headers: { Authorization: token }, ...body })
    if (status >= 300) throw new Error(`${name}: ${status} ${answer}`)
    const consumed = takeConsumed()
    const { readUnits, writeUnits } = consumed
    const isCold = rows.length === 0
    const met = consumed.reads === reads && consumed.writes === writes && (writes > 0 || readUnits === 0.5)
    rows.push([
      isCold ? `${name}, cold caches` : name,
      consumed.reads,
      readUnits,
      consumed.writes,
      writeUnits,
      isCold ? '' : verdict(met),
    ])
  }
  return {
    title: `Store cost of a request, as the store reports it (form of ${fullForm.fields.length} fields, warm caches)`,
    columns: ['request', 'reads', 'RCU', 'writes', 'WCU', 'verdict'],
    rows,
  }
}

/** What one request consumes of DynamoDB's capacity. */
export const measureStoreCost = (): Promise<Table> => onTables(measure)
