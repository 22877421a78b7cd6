import { createFieldsHandler } from '../../functions/fields/group.ts'
import { createFieldsDeps } from '../../lib/deps.ts'
import type { WebForms } from '../../lib/fields/web-forms.ts'
import type { Handler, Request } from '../../lib/http/request.ts'
import { fillDirectory } from '../../test/support/every-operation.ts'
import { requestOf, textOf } from '../../test/support/gateway.ts'
import { entry } from '../../test/support/history.ts'
import { onMachine } from '../grounds.ts'
import { median, quantile } from '../quantile.ts'
import { type Table, verdict } from '../table.ts'
import { fullForm, listPath } from './full-form.ts'

const warmUp = 5_000
const requests = 20_000
const targets = { p50: 0.2, p99: 1 }
const unlimited = () => Number.POSITIVE_INFINITY

/** The full form, at once. */
const openInMemory = (): WebForms => {
  let { fields } = fullForm
  return {
    get: async () => ({ ...fullForm, fields }),
    list: async () => [fullForm],
    create: async () => true,
    rename: async () => undefined,
    highestId: async () => fullForm.id,
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
    create: `<field xmlns="http://ns.adobe.com/bc/api/v1"><type><id>${lastType}</id></type><mandatory>true</mandatory><order>5</order></field>`,
    update: '<field xmlns="http://ns.adobe.com/bc/api/v1"><mandatory>false</mandatory><order>9</order></field>',
  },
} as const

interface Subject {
  readonly name: string
  readonly request: Request
  readonly status: number
  /** What makes room for the request each time; not measured. */
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

const measure = async (handler: Handler, { name, request, status, first }: Subject): Promise<readonly number[]> => {
  const times = new Float64Array(requests)
  for (let turn = -warmUp; turn < requests; turn++) {
    if (first) await handler(first, unlimited)
    const startedAt = performance.now()
    const answer = await handler(request, unlimited)
    if (turn >= 0) times[turn] = performance.now() - startedAt
    if (answer.status !== status) throw new Error(`${name}: ${answer.status} ${await textOf(answer)}`)
  }
  return [...times]
}

/**
 * Parse, route, authorise, render: what a warm handler adds to the time of its stores, which answer at once here. And the same with the
 * database of one machine, whose commits wait for no disk: its times are not what is measured.
 */
export const measureHandler = (): Promise<Table> =>
  onMachine(
    async ({ stores }) => {
      const token = await fillDirectory(stores)
      await stores.webForms.create(fullForm, entry)
      const over = (webForms: WebForms) =>
        createFieldsHandler(
          createFieldsDeps({ dataCentre: 'us' }, { ...stores, webForms }, { telemetry: { request: () => undefined } }),
        )
      const [bare, whole] = [over(openInMemory()), over(stores.webForms)]
      const rows: (string | number)[][] = []
      for (const subject of [...subjectsIn(token, 'json'), ...subjectsIn(token, 'xml')]) {
        const [samples, wholeSamples] = [await measure(bare, subject), await measure(whole, subject)]
        const [p50, p99] = [median(samples), quantile(samples, 0.99)]
        const withDatabase = [median(wholeSamples), quantile(wholeSamples, 0.99)].map((time) => time.toFixed(3))
        const told = verdict(p50 <= targets.p50 && p99 <= targets.p99)
        rows.push([subject.name, p50.toFixed(3), p99.toFixed(3), told, ...withDatabase])
      }
      return {
        title: `Warm handler overhead, ms (${requests} requests each; targets p50 ${targets.p50}, p99 ${targets.p99})`,
        columns: ['request', 'p50', 'p99', 'verdict', 'p50 with the database', 'p99 with the database'],
        rows,
      }
    },
    { durable: false },
  )
