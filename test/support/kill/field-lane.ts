import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import type { Lane, Step } from './lane.ts'

type Fields = readonly (readonly [typeId: number, mandatory: boolean, order: number])[]

const site = 1001 as SiteId
const form = 2 as WebFormId
const path = `/api/v1/admin/sites/current/webforms/${form}/fields/system`
const types = [-2, -20, -21, -22] as const

const change = (fields: Fields, typeId: number): Step<Fields> => {
  const [, mandatory = false] = fields.find(([type]) => type === typeId) ?? []
  return {
    name: `change ${typeId}`,
    path: `${path}/${typeId}`,
    init: { method: 'PUT', body: JSON.stringify({ mandatory: !mandatory }) },
    after: fields.map(([type, is, order]) => [type, type === typeId ? !mandatory : is, order]),
  }
}

const create = (fields: Fields, typeId: number): Step<Fields> => ({
  name: `create ${typeId}`,
  path,
  init: { method: 'POST', body: JSON.stringify({ type: { id: typeId }, mandatory: true }) },
  after: [...fields, [typeId, true, Math.max(...fields.map(([, , order]) => order)) + 1]],
})

const remove = (fields: Fields, typeId: number): Step<Fields> => ({
  name: `remove ${typeId}`,
  path: `${path}/${typeId}`,
  init: { method: 'DELETE' },
  after: fields.filter(([type]) => type !== typeId),
})

export const fieldLane = (): Lane<Fields> => ({
  name: 'fields',
  start: [
    [-3, true, 1],
    [-7, false, 2],
  ],
  next(fields, count) {
    const typeId = types[count % types.length] ?? types[0]
    if (!fields.some(([type]) => type === typeId)) return create(fields, typeId)
    return Math.random() < 0.5 ? change(fields, typeId) : remove(fields, typeId)
  },
  async observe({ stores: { webForms } }) {
    const found = await webForms.get(site, form)
    return (found?.fields ?? []).map(({ typeId, mandatory, order }) => [typeId, mandatory, order])
  },
})
