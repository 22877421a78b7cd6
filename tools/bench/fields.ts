import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createFieldsHandler } from '../../functions/fields/group.ts'
import type { SiteId, WebFormId } from '../../lib/core/ids.ts'
import { fieldTypes, type SystemField, type WebForm, type WebForms } from '../../lib/fields/web-forms.ts'
import type { Handler, Request } from '../../lib/http/request.ts'
import { createFieldsDeps } from '../../lib/service/deps.ts'
import { fillDirectory, storesOver } from '../../test/support/every-operation.ts'
import { answerTo, requestOf, type Request as Sent, send, textOf } from '../../test/support/gateway.ts'
import { entry } from '../../test/support/history.ts'
import { atMost, type Bench, median, quantile, type Table, verdict } from './measure/figures.ts'
import { inScratchFolder, onMachine, onTables, unlogged } from './measure/grounds.ts'
import { meter } from './measure/meter.ts'

const starts = 7
const longestStart = 2_000

interface Ready {
  readonly baseUrl: string
  readonly token: string
}

// The child process is npm, and Node is a child of npm. So this ends the whole process group.
const stop = async (child: ChildProcess): Promise<void> => {
  const closed = once(child, 'close')
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await closed
}

/** In milliseconds, from the command to the first answer. */
const startOnce = async (dataDirectory: string): Promise<number> => {
  const startedAt = performance.now()
  const args = ['start', '--silent', '--', '--port', '0', '--json', '--quiet', '--data-dir', dataDirectory]
  const child = spawn('npm', args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    for await (const line of createInterface(child.stdout)) {
      const { baseUrl, token } = JSON.parse(line) as Ready
      const answer = await fetch(`${baseUrl}/api/v1/admin/sites/current/webforms/1/fields/system`, {
        headers: { Authorization: token },
      })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`The first answer is ${answer.status}`)
      return performance.now() - startedAt
    }
    throw new Error('npm start ended before it was ready')
  } finally {
    await stop(child)
  }
}

const row = (name: string, times: readonly number[]) => {
  const worst = Math.max(...times)
  return [name, Math.round(median(times)), Math.round(worst), ...atMost(worst, longestStart)]
}

/** Measures the start on an empty data directory and on a used one. */
const measureStart = async (): Promise<Table> => {
  const first: number[] = []
  const later: number[] = []
  for (let run = 0; run < starts; run++) {
    await inScratchFolder(async (directory) => {
      first.push(await startOnce(directory))
      later.push(await startOnce(directory))
    })
  }
  return {
    title: `npm start to first answer, ms (${starts} runs each)`,
    columns: ['data directory', 'median', 'worst', 'target', 'verdict'],
    rows: [row('empty', first), row('in use before', later)],
  }
}

// The largest possible form, with a field of each of the 33 types, on the site that `fillDirectory` creates.
const fullForm: WebForm = {
  site: 1001 as SiteId,
  id: 1 as WebFormId,
  name: 'Contact us',
  fields: [...fieldTypes.keys()].map((typeId, index): SystemField => ({ typeId, mandatory: true, order: index + 1 })),
}

const listPath = `/api/v1/admin/sites/${fullForm.site}/webforms/${fullForm.id}/fields/system`

const warmUp = 5_000
const turns = 20_000
const targets = { p50: 0.2, p99: 1 }

const openInMemory = (): WebForms => {
  let { fields } = fullForm
  return {
    get: async () => ({ ...fullForm, fields }),
    list: async () => [fullForm],
    listWhole: async () => [fullForm],
    create: async () => true,
    rename: async () => undefined,
    highestId: async () => fullForm.id,
    remove: async () => true,
    clear: async () => undefined,
    changeFields: async (_site, _form, apply) => {
      fields = apply(fields)
    },
  }
}

const [firstType] = fullForm.fields.map(({ typeId }) => typeId)
const lastType = fullForm.fields.at(-1)?.typeId

const bodies = {
  json: {
    create: `{"type":{"id":${lastType}},"mandatory":true,"order":5}`,
    update: '{"mandatory":false,"order":9}',
  },
  xml: {
    create:
      '<field xmlns="http://ns.adobe.com/bc/api/v1">' +
      `<type><id>${lastType}</id></type><mandatory>true</mandatory><order>5</order></field>`,
    update: '<field xmlns="http://ns.adobe.com/bc/api/v1"><mandatory>false</mandatory><order>9</order></field>',
  },
} as const

interface Subject {
  readonly name: string
  readonly request: Request
  readonly status: number
  // Prepares each measured request.
  readonly first?: Request
}

const subjectsIn = (token: string, format: 'json' | 'xml'): readonly Subject[] => {
  const type = `application/${format}`
  const reading = { Authorization: token, Accept: type }
  const writing = { ...reading, 'Content-Type': type }
  const { create, update } = bodies[format]
  return [
    {
      name: `list of ${fullForm.fields.length}, ${format}`,
      request: requestOf('GET', listPath, { headers: reading }),
      status: 200,
    },
    {
      name: `create, ${format}`,
      first: requestOf('DELETE', `${listPath}/${lastType}`, { headers: reading }),
      request: requestOf('POST', listPath, { headers: writing, body: create }),
      status: 201,
    },
    {
      name: `update, ${format}`,
      request: requestOf('PUT', `${listPath}/${firstType}`, { headers: writing, body: update }),
      status: 200,
    },
  ]
}

const timesOf = async (handler: Handler, { name, request, status, first }: Subject): Promise<readonly number[]> => {
  const times = new Float64Array(turns)
  for (let turn = -warmUp; turn < turns; turn++) {
    if (first) await answerTo(handler, first)
    const startedAt = performance.now()
    const answer = await answerTo(handler, request)
    if (turn >= 0) times[turn] = performance.now() - startedAt
    if (answer.status !== status) throw new Error(`${name}: ${answer.status} ${await textOf(answer)}`)
  }
  return [...times]
}

/**
 * Measures parsing, routing, authorisation and rendering of a warm handler: with stores in memory, then with the
 * database of one machine without flushes.
 */
const measureHandler = (): Promise<Table> =>
  onMachine(
    async ({ stores }) => {
      const token = await fillDirectory(stores)
      await stores.webForms.create(fullForm, entry)
      const over = (webForms: WebForms) =>
        createFieldsHandler(createFieldsDeps({ dataCentre: 'us' }, { ...stores, webForms }, unlogged))
      const [bare, whole] = [over(openInMemory()), over(stores.webForms)]
      const rows: (string | number)[][] = []
      for (const subject of [...subjectsIn(token, 'json'), ...subjectsIn(token, 'xml')]) {
        const [samples, wholeSamples] = [await timesOf(bare, subject), await timesOf(whole, subject)]
        const [p50, p99] = [median(samples), quantile(samples, 0.99)]
        const withDatabase = [median(wholeSamples), quantile(wholeSamples, 0.99)].map((time) => time.toFixed(3))
        const told = verdict(p50 <= targets.p50 && p99 <= targets.p99)
        rows.push([subject.name, p50.toFixed(3), p99.toFixed(3), told, ...withDatabase])
      }
      return {
        title: `Warm handler overhead, ms (${turns} requests each; targets p50 ${targets.p50}, p99 ${targets.p99})`,
        columns: ['request', 'p50', 'p99', 'verdict', 'p50 with the database', 'p99 with the database'],
        rows,
      }
    },
    { durable: false },
  )

const one = `${listPath}/-2`

type Asked = readonly [name: string, method: string, path: string, sent: Sent, reads: number, writes: number]

// In this order, each request leaves the form in the state that the next one needs.
const requests: readonly Asked[] = [
  [`list of ${fullForm.fields.length}`, 'GET', listPath, {}, 1, 0],
  ['one field', 'GET', one, {}, 1, 0],
  ['update', 'PUT', one, { body: { mandatory: false, order: 9 } }, 1, 1],
  ['remove', 'DELETE', one, {}, 1, 1],
  ['create', 'POST', listPath, { body: { type: { id: -2 }, mandatory: true, order: 1 } }, 1, 1],
]

const measureUnits = async (dynamodb: DynamoDBDocumentClient): Promise<Table> => {
  const stores = storesOver(dynamodb)
  const token = await fillDirectory(stores)
  await stores.webForms.create(fullForm, entry)
  const takeConsumed = meter(dynamodb)
  const handler = createFieldsHandler(createFieldsDeps({ dataCentre: 'us' }, stores, unlogged))
  const rows: (string | number)[][] = []
  for (const [name, method, path, body, reads, writes] of [...requests.slice(0, 1), ...requests]) {
    const { status, text } = await send(handler, method, path, { headers: { Authorization: token }, ...body })
    if (status >= 300) throw new Error(`${name}: ${status} ${text}`)
    const consumed = takeConsumed()
    const { readUnits, writeUnits } = consumed
    const isCold = rows.length === 0
    const met = consumed.reads === reads && consumed.writes === writes && (writes > 0 || readUnits === 0.5)
    const figures = [consumed.reads, readUnits, consumed.writes, writeUnits]
    rows.push(isCold ? [`${name}, cold caches`, ...figures, ''] : [name, ...figures, verdict(met)])
  }
  return {
    title: `Store cost of a request, as the store reports it (form of ${fullForm.fields.length} fields, warm caches)`,
    columns: ['request', 'reads', 'RCU', 'writes', 'WCU', 'verdict'],
    rows,
  }
}

/** Measures time and store capacity of the operations on fields. */
export const fields: Bench = async () => [await measureStart(), await measureHandler(), await onTables(measureUnits)]
