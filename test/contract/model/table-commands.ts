import fc from 'fast-check'
import { objectKinds } from '../../../lib/core/object-kinds.ts'
import { categories, objects, webForm } from './both-stores.ts'
import { expectFields, expectLinks, request } from './commands.ts'
import { placeField } from './site-model.ts'

const fields = { api: 'v1', path: `webforms/${webForm}/fields/system` } as const
const anyType = fc.constantFrom(-2, -3, -5, -7, -10, -999)
const anyOrder = fc.constantFrom(undefined, undefined, 1, 2, 3, 5, 0, 2_147_483_647)
const anyFlag = fc.boolean()

const addField = fc.tuple(anyType, anyFlag, anyOrder).map(([id, mandatory, order]) =>
  request({ method: 'POST', ...fields, body: { type: { id }, mandatory, order } }, (model, { status }) => {
    if (status === 201) placeField(model, { id, mandatory }, order)
  }),
)

const tags = fc.constantFrom(
  undefined,
  undefined,
  { header: 'If-Match' as const, age: 'present' as const },
  { header: 'If-Match' as const, age: 'earlier' as const },
)
const change = fc.record({ mandatory: anyFlag, order: anyOrder }, { requiredKeys: [] })
const changeField = fc.tuple(anyType, change, tags).map(([id, body, tag]) =>
  request({ method: 'PUT', ...fields, path: `${fields.path}/${id}`, body, tag }, (model, { status }) => {
    const [order, field] = [...model.fields].find(([, one]) => one.id === id) ?? []
    if (status !== 200 || order === undefined || !field) return
    model.fields.delete(order)
    placeField(model, { id, mandatory: body.mandatory ?? field.mandatory }, body.order ?? order)
  }),
)

const removeField = fc.tuple(anyType, tags).map(([id, tag]) =>
  request({ method: 'DELETE', ...fields, path: `${fields.path}/${id}`, tag }, (model, { status }) => {
    if (status !== 200) return
    for (const [order, field] of model.fields) if (field.id === id) model.fields.delete(order)
  }),
)

export const listFields = request({ method: 'GET', ...fields }, expectFields)

const getField = anyType.map((id) => request({ method: 'GET', ...fields, path: `${fields.path}/${id}` }))
const changesOfFields = [addField, addField, changeField, changeField, removeField]
export const anyFieldCommand = fc.oneof(...changesOfFields, getField, fc.constant(listFields))

const anyKind = fc.constantFrom('news' as const, 'blog' as const)
const anyCategory = fc.constantFrom(...categories, 9)
const anyObject = fc.constantFrom(...objects, 9)
const someOf = (ids: fc.Arbitrary<number>) =>
  fc.array(fc.tuple(ids, fc.constantFrom(undefined, 0, 1)), { minLength: 1, maxLength: 3 })
const anyLinks = fc.oneof(
  fc.record({ category: anyCategory, items: someOf(anyObject) }),
  fc.record({ object: anyObject, items: someOf(anyCategory) }),
)
type Side = { readonly category: number } | { readonly object: number }

const sideOf = (kind: 'news' | 'blog', side: Side) => {
  const { segment } = objectKinds[kind]
  const path = 'category' in side ? `categories/${side.category}/${segment}` : `${segment}/${side.object}/categories`
  return { api: 'v3', path } as const
}
const keyOf = (kind: string, side: Side, id: number): string =>
  'category' in side ? `${side.category}/${kind}/${id}` : `${id}/${kind}/${side.object}`

const changeLinks = fc
  .tuple(anyKind, anyLinks, fc.constantFrom('POST', 'POST', 'DELETE'))
  .map(([kind, { items, ...side }, method]) => {
    const member = 'category' in side ? 'objectId' : 'categoryId'
    const body = { items: items.map(([id, displayable]) => ({ [member]: id, displayable })) }
    return request({ method, ...sideOf(kind, side), body }, (model, { status }) => {
      for (const [id, displayable] of status < 300 ? items : []) {
        const key = keyOf(kind, side, id)
        if (method === 'DELETE') model.links.delete(key)
        else model.links.set(key, displayable ?? model.links.get(key) ?? 1)
      }
    })
  })

export const listLinks = (kind: 'news' | 'blog', side: Side, query: Record<string, string> = {}) =>
  request({ method: 'GET', ...sideOf(kind, side), query }, (model, answer) => {
    if (Object.keys(query).length === 0 && 'category' in side) expectLinks(model, answer, `${side.category}/${kind}/`)
  })

const anySide: fc.Arbitrary<Side> = fc.oneof(fc.record({ category: anyCategory }), fc.record({ object: anyObject }))
const anyQuery = fc.constantFrom(
  {},
  { limit: '1' },
  { cursor: '', limit: '1' },
  { order: '-objectId' },
  { where: '{displayable: 1}' },
)

const lists = fc.tuple(anyKind, anySide, anyQuery).map((wanted) => listLinks(...wanted))
export const anyLinkCommand = fc.oneof(changeLinks, changeLinks, changeLinks, lists)
