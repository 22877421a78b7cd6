import { createFieldsHandler } from '../../functions/fields/group.ts'
import { hashToken, newToken } from '../../lib/access/token.ts'
import { systemClock } from '../../lib/clock.ts'
import type { FieldsDeps } from '../../lib/deps.ts'
import type { WebFormsTable } from '../../lib/fields/web-forms-table.ts'
import type { Request } from '../../lib/http/request.ts'
import { requestOf } from '../../test/support/gateway.ts'
import { median, quantile } from '../quantile.ts'
import { type Table, verdict } from '../table.ts'
import { fullForm, listPath, site } from './full-form.ts'

const warmUp = 5_000
const requests = 20_000
const targets = { p50: 0.2, p99: 1 }
const unlimited = () => Number.POSITIVE_INFINITY

const token = newToken()
const grant = {
  hash: hashToken(token),
  user: 'bench',
  sites: [site],
  permissions: [],
  expires: Number.MAX_SAFE_INTEGER,
}

/** A form that answers at once and forgets every change, so that each request meets the same one. */
const webForms: WebFormsTable = {
  get: async () => fullForm,
  list: async () => [fullForm],
  create: async () => true,
  rename: async () => undefined,
  highestId: async () => fullForm.id,
  // The last type of the catalogue is left off, so that there is one to create.
  changeFields: async (_site, _form, apply) => void apply(fullForm.fields.slice(0, -1)),
}

const deps: FieldsDeps = {
  edge: {
    dataCentre: 'us',
    findGrant: async () => grant,
    findSite: async (id) => ({ id, name: 'Bench', dataCentre: 'us', renderingEngine: true }),
    findDataCentre: async (id) => ({ id, url: 'https://us.example.com', isDefault: true }),
    telemetry: { request: () => undefined },
    clock: systemClock,
  },
  webForms,
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

const requestsIn = (format: 'json' | 'xml'): readonly [name: string, request: Request, status: number][] => {
  const type = `application/${format}`
  const reading = { Authorization: token, Accept: type }
  const writing = { ...reading, 'Content-Type': type }
  const { create, update } = bodies[format]
  return [
    [`list of ${fullForm.fields.length}, ${format}`, requestOf('GET', listPath, { headers: reading }), 200],
    [`create, ${format}`, requestOf('POST', listPath, { headers: writing, body: create }), 201],
    [`update, ${format}`, requestOf('PUT', `${listPath}/${firstType}`, { headers: writing, body: update }), 200],
  ]
}

/** Parse, route, authorise, render: what a warm handler adds to the time of its stores, which are stubbed here. */
export const measureHandler = async (): Promise<Table> => {
  const handler = createFieldsHandler(deps)
  const rows: (string | number)[][] = []
  for (const [name, request, status] of [...requestsIn('json'), ...requestsIn('xml')]) {
    const answer = await handler(request, unlimited)
    if (answer.status !== status) throw new Error(`${name}: ${answer.status} ${answer.body}`)
    for (let turn = 0; turn < warmUp; turn++) await handler(request, unlimited)
    const times = new Float64Array(requests)
    for (let turn = 0; turn < requests; turn++) {
      const startedAt = performance.now()
      await handler(request, unlimited)
      times[turn] = performance.now() - startedAt
    }
    const samples = [...times]
    const [p50, p99] = [median(samples), quantile(samples, 0.99)]
    rows.push([name, p50.toFixed(3), p99.toFixed(3), verdict(p50 <= targets.p50 && p99 <= targets.p99)])
  }
  return {
    title: `Warm handler overhead, ms (${requests} requests each; targets p50 ${targets.p50}, p99 ${targets.p99})`,
    columns: ['request', 'p50', 'p99', 'verdict'],
    rows,
  }
}
