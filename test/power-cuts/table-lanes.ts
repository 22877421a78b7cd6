import type { CategoryId, WebFormId } from '../../lib/core/ids.ts'
import { type Judged, observedLane, recordedLane, type Step, site, stepOf } from './lanes.ts'

const step = <State>(method: string, path: string, body: object | undefined, after: State): Step<State> =>
  stepOf(`${method} ${path}`, after, ({ request }) =>
    request(path, { method, ...(body && { body: JSON.stringify(body) }) }),
  )

type Fields = readonly (readonly [typeId: number, mandatory: boolean, order: number])[]

const form = 2 as WebFormId
const formPath = `/api/v1/admin/sites/current/webforms/${form}/fields/system`
const types = [-2, -20, -21, -22] as const

export const fieldChanges = () => {
  const next = (fields: Fields, count: number): Step<Fields> => {
    const id = types[count % types.length] ?? types[0]
    const found = fields.find(([type]) => type === id)
    const last = Math.max(...fields.map(([, , order]) => order))
    const others = fields.filter(([type]) => type !== id)
    if (!found) return step('POST', formPath, { type: { id }, mandatory: true }, [...fields, [id, true, last + 1]])
    if (Math.random() < 0.5) return step('DELETE', `${formPath}/${id}`, undefined, others)
    const [, mandatory, order] = found
    const after = [...others, [id, !mandatory, order] as const].toSorted(([, , a], [, , b]) => a - b)
    return step('PUT', `${formPath}/${id}`, { mandatory: !mandatory }, after)
  }
  const start: Fields = [
    [-3, true, 1],
    [-7, false, 2],
  ]
  const observe = async ({ machine: { stores } }: Judged): Promise<Fields> => {
    const { fields = [] } = (await stores.webForms.get(site, form)) ?? {}
    return fields.map(({ typeId, mandatory, order }) => [typeId, mandatory, order])
  }
  return recordedLane<Fields>({ start, next, observe }, ({ type }) => type.startsWith('field.'))
}

type Links = readonly (readonly [id: number, displayable: number])[]

const category = 3 as CategoryId
const kind = 'blog'
const categoryPath = `/webresources/api/v3/sites/current/categories/${category}/blogs`
const ids = [1, 2, 3, 4, 5, 6, 7, 8] as const

/** The links of the category. Throws an Error if the links of an object differ. */
const observeLinks = async ({ machine: { stores } }: Judged): Promise<Links> => {
  const found = await stores.links.list({ site, kind, category }, 0, 500)
  for (const id of ids) {
    const isLinked = (await stores.links.categoriesOf({ site, kind, id }, 0, 500)).includes(category)
    const isListed = found.some((each) => each.id === id)
    if (isLinked !== isListed) throw new Error(`The links of blog ${id} and of category ${category} disagree`)
  }
  return found.map(({ id, displayable }) => [id, displayable ? 1 : 0])
}

export const linkChanges = () => {
  const next = (links: Links): Step<Links> => {
    const some = ids.filter(() => Math.random() < 0.5)
    const chosen: readonly number[] = some.length > 0 ? some : [ids[0]]
    const others = links.filter(([id]) => !chosen.includes(id))
    const displayable = Math.random() < 0.5 ? 0 : 1
    const isLink = Math.random() < 0.6
    const items = chosen.map((objectId) => ({ objectId, ...(isLink && { displayable }) }))
    const linked = [...others, ...chosen.map((id) => [id, displayable] as const)].toSorted(([a], [b]) => a - b)
    return step(isLink ? 'POST' : 'DELETE', categoryPath, { items }, isLink ? linked : others)
  }
  const start: Links = [2, 5, 8].map((id) => [id, 1])
  return observedLane<Links>({ start, next, observe: observeLinks })
}
