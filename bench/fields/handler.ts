import { createFieldsHandler } from '../../functions/fields/group.ts'
import { hashToken, newToken } from '../../lib/access/token.ts'
import type { FieldsDeps } from '../../lib/deps.ts'
import type { WebFormsTable } from '../../lib/fields/web-forms-table.ts'
import type { GatewayEvent } from '../../lib/http/gateway.ts'
import { median, quantile } from '../quantile.ts'
import { type Table, verdict } from '../table.ts'
import { gatewayEvent } from './event.ts'
import { fullForm, listPath, site } from './full-form.ts'

const warmUp = 5_000
const requests = 20_000
const targets = { p50: 0.2, p99: 1 }

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
  pipeline: {
    dataCentre: 'us',
    findGrant: async () => grant,
    findSite: async (id) => ({ id, name: 'Bench', dataCentre: 'us', renderingEngine: true }),
    findDataCentre: async (id) => ({ id, url: 'https://us.example.com', isDefault: true }),
    telemetry: { request: () => undefined },
    now: Date.now,
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

const requestsIn = (format: 'json' | 'xml'): readonly [name: string, event: GatewayEvent, status: number][] => {
  const type = `application/${format}`
  const reading = { Authorization: token, Accept: type }
  const writing = { ...reading, 'Content-Type': type }
  const { create, update } = bodies[format]
  return [
    [`list of ${fullForm.fields.length}, ${format}`, gatewayEvent('GET', listPath, reading), 200],
    [`create, ${format}`, gatewayEvent('POST', listPath, writing, create), 201],
    [`update, ${format}`, gatewayEvent('PUT', `${listPath}/${firstType}`, writing, update), 200],
  ]
}

/** Parse, route, authorise, render: what a warm handler adds to the time of its stores, which are stubbed here. */
export const measureHandler = async (): Promise<Table> => {
  const handler = createFieldsHandler(deps)
  const rows: (string | number)[][] = []
  for (const [name, event, status] of [...requestsIn('json'), ...requestsIn('xml')]) {
    const answer = await handler(event, {})
    if (answer.statusCode !== status) throw new Error(`${name}: ${answer.statusCode} ${answer.body}`)
    for (let request = 0; request < warmUp; request++) await handler(event, {})
    const times = new Float64Array(requests)
    for (let request = 0; request < requests; request++) {
      const startedAt = performance.now()
      await handler(event, {})
      times[request] = performance.now() - startedAt
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
