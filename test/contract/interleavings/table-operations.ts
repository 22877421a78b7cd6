import fc from 'fast-check'
import type { Operation, State } from './operations.ts'
import { category, objects, webForm } from './scheduled-stores.ts'

const links = `categories/${category}/news`

export const link = (objectId: number, displayable: 0 | 1): Operation => ({
  label: `link ${objectId} ${displayable}`,
  run: (site) => site.request('POST', links, { body: { items: [{ objectId, displayable }] } }),
  succeed: (state) => new Map([...state, [`link ${objectId}`, String(displayable)]]),
  entry: `added category/${category}/news/${objectId}`,
  mayHaveNoEntry: true,
})

export const linkFromObject = (objectId: number, displayable: 0 | 1): Operation => ({
  ...link(objectId, displayable),
  label: `link from ${objectId} ${displayable}`,
  run: (site) =>
    site.request('POST', `news/${objectId}/categories`, { body: { items: [{ categoryId: category, displayable }] } }),
})

export const unlink = (objectId: number): Operation => ({
  label: `unlink ${objectId}`,
  run: (site) => site.request('DELETE', links, { body: { items: [{ objectId }] } }),
  succeed: (state) => new Map([...state].filter(([name]) => name !== `link ${objectId}`)),
  entry: `removed category/${category}/news/${objectId}`,
  mayHaveNoEntry: true,
})

export type Item = Readonly<Record<string, string | number>>

/** A list is refused only if an operation that needs it says so. */
export const listing = (
  path: string,
  prefix: string,
  entryOf: (item: Item, state: State) => readonly unknown[],
): Operation => ({
  label: `list ${path}`,
  run: (site) => site.request('GET', path),
  succeed(state, { json }) {
    const found = json?.items?.map((item: Item) => entryOf(item, state))
    const own = [...state].filter(([name]) => name.startsWith(prefix))
    return !found || JSON.stringify(own.sort()) === JSON.stringify(found.sort()) ? state : undefined
  },
})

export const listLinks = listing(links, 'link ', ({ objectId, displayable }) => [`link ${objectId}`, `${displayable}`])

const fields = `webforms/${webForm}/fields/system`
const orderOf = (name: string): number => Number(name.slice('field '.length))
const fieldsIn = (state: State) => [...state].filter(([name]) => name.startsWith('field '))

/** If a field gets a used order, the field at this order and the fields directly after it move down (F-23). */
const placed = (state: State, id: number, wanted: number | undefined): State => {
  const after = new Map(state)
  let order = wanted ?? Math.max(0, ...fieldsIn(state).map(([name]) => orderOf(name))) + 1
  for (let field: string | undefined = String(id); field !== undefined; order += 1) {
    const next = after.get(`field ${order}`)
    after.set(`field ${order}`, field)
    field = next
  }
  return after
}
const nameOf = (state: State, id: number) => fieldsIn(state).find(([, field]) => field === String(id))?.[0]

export const addField = (id: number, order: number | undefined): Operation => ({
  label: `add field ${id} ${order}`,
  run: (site) => site.request('POST', fields, { body: { type: { id }, mandatory: true, order } }),
  succeed: (state) => (nameOf(state, id) === undefined ? placed(state, id, order) : undefined),
  entry: `created form/${webForm}/field/${id}`,
})

export const moveField = (id: number, order: number): Operation => ({
  label: `move field ${id} to ${order}`,
  run: (site) => site.request('PUT', `${fields}/${id}`, { body: { order } }),
  succeed(state) {
    const name = nameOf(state, id)
    return name === undefined ? undefined : placed(new Map([...state].filter(([one]) => one !== name)), id, order)
  },
  entry: `updated form/${webForm}/field/${id}`,
  mayHaveNoEntry: true,
})

const removeField = (id: number): Operation => ({
  label: `remove field ${id}`,
  run: (site) => site.request('DELETE', `${fields}/${id}`),
  succeed(state) {
    const name = nameOf(state, id)
    return name === undefined ? undefined : new Map([...state].filter(([one]) => one !== name))
  },
  entry: `removed form/${webForm}/field/${id}`,
})

export const listFields = listing(fields, 'field ', ({ id, order }) => [`field ${order}`, String(id)])

const anyObject = fc.constantFrom(...objects)
const anyDisplayable = fc.constantFrom(0 as const, 1 as const)
const anyField = fc.constantFrom(-2, -3, -5)
const anyOrder = fc.constantFrom(1, 2)

export const anyTableOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.tuple(anyObject, anyDisplayable).map((wanted) => () => link(...wanted)),
  fc.tuple(anyObject, anyDisplayable).map((wanted) => () => linkFromObject(...wanted)),
  anyObject.map((id) => () => unlink(id)),
  fc.constant(() => listLinks),
  fc.tuple(anyField, fc.option(anyOrder, { nil: undefined })).map((wanted) => () => addField(...wanted)),
  fc.tuple(anyField, anyOrder).map((wanted) => () => moveField(...wanted)),
  anyField.map((id) => () => removeField(id)),
  fc.constant(() => listFields),
)
