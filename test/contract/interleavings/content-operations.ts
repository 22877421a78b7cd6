import fc from 'fast-check'
import type { Content } from '../../../lib/categories/contents.ts'
import { mergeContent, withDefaults } from '../../../lib/core/content-kinds.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { WebFormId } from '../../../lib/core/ids.ts'
import type { Operation, State } from './operations.ts'
import { type Administration, category, objects, webForm } from './scheduled-stores.ts'
import * as tables from './table-operations.ts'

const { addField, link, linkFromObject, listFields, listing, listLinks, moveField, unlink } = tables

// The names of a category, a news item and a form, and two members of a news item that stays.

const put = (state: State, key: string, value: string) => new Map([...state, [key, value]])
const without = (state: State, ...prefixes: readonly string[]) =>
  new Map([...state].filter(([name]) => !prefixes.some((prefix) => name.startsWith(prefix))))

const fates = ['created', 'changed', 'removed'] as const
type Fate = (typeof fates)[number]

/** `below` begins the keys of the links or fields that are removed with the thing. */
interface Thing extends Readonly<Partial<Record<Fate, (given: Administration, name: string) => Promise<unknown>>>> {
  readonly key: string
  readonly type: 'category' | 'object' | 'form'
  readonly below?: string
}

const [removable, staying] = objects
const form = webForm as WebFormId
const [categoryKey, newsKey, formKey] = [`category ${category}`, `news ${removable}`, `form ${form}`]

/** The things of each site at its beginning. */
export const firstContent = {
  ...{ [categoryKey]: 'News', [newsKey]: 'News 1', [formKey]: 'Contact us' },
  ...{ 'news 2': '', 'subject 2': 'News 2', 'slug 2': 'news-2' },
}

const renameCategory = (stored: Content | undefined, name: string) => {
  if (stored) return { ...stored, name }
  throw new ServiceError('categoryUnknown')
}

/** An import changes only this member (T-25). */
const memberOf = (member: 'subject' | 'slug'): Thing => ({
  ...{ key: `${member} ${staying}`, type: 'object' },
  changed({ contents, site, entry }, name) {
    const merge = (stored?: Content) => mergeContent('news', stored, { id: staying, [member]: name }, 0)
    return contents.changeMany(site, 'news', [staying], merge, entry)
  },
})

const things: readonly Thing[] = [
  {
    ...{ key: categoryKey, type: 'category', below: 'link ' },
    created: ({ contents, site, entry }, name) => contents.create(site, 'category', { id: category, name }, entry),
    changed: ({ contents, site, entry }, name) =>
      contents.changeMany(site, 'category', [category], (stored) => renameCategory(stored, name), entry),
    removed: ({ contents, site, entry }) => contents.remove(site, 'category', category, entry),
  },
  {
    ...{ key: newsKey, type: 'object', below: `link ${removable}` },
    created: ({ contents, site, entry }, subject) =>
      contents.create(site, 'news', withDefaults('news', { id: removable, subject }, 0), entry),
    removed: ({ contents, site, entry }) => contents.remove(site, 'news', removable, entry),
  },
  {
    ...{ key: formKey, type: 'form', below: 'field ' },
    created: ({ webForms, site, entry }, name) => webForms.create({ site, id: form, name, fields: [] }, entry),
    changed: ({ webForms, site, entry }, name) => webForms.rename(site, form, name, entry),
    removed: ({ webForms, site, entry }) => webForms.remove(site, form, entry),
  },
  memberOf('subject'),
  memberOf('slug'),
]

const operations: Readonly<Record<Fate, (thing: Thing, name: string) => Pick<Operation, 'succeed'>>> = {
  created({ key, type }, name) {
    // The id of content is taken until its removal is complete.
    const isTaken = (state: State) => state.has(key) || (type !== 'form' && state.has(`going ${key}`))
    const succeed = (state: State) => (isTaken(state) ? undefined : put(state, key, name))
    // If the answer is lost, and another caller removes the thing, the client creates it again.
    const inRace = (state: State) => (state.get(key) === name ? state : undefined)
    return { succeed, begin: (state: State) => [succeed(state)], inRace }
  },
  changed: ({ key }, name) => ({ succeed: (state) => (state.has(key) ? put(state, key, name) : undefined) }),
  removed({ key, below = key }) {
    const removed = (state: State) => without(state, key, below, `going ${key}`)
    const begin = (state: State) => (state.has(key) ? [put(removed(state), `going ${key}`, '')] : [])
    const succeed = (state: State) => (state.has(key) || state.has(`going ${key}`) ? removed(state) : undefined)
    return { begin, mayAlsoCause: begin, inRefusal: begin, succeed }
  },
}

let names = 0
const change = (thing: Thing, fate: Fate): Operation => {
  const [name, subject] = [`name ${++names}`, thing.key.replace(' ', '/')]
  return {
    label: `${fate} ${thing.key} ${name}`,
    run: (site) => site.administer(`${thing.type}.${fate}`, subject, async (given) => thing[fate]?.(given, name)),
    entry: `${fate} ${subject}`,
    ...operations[fate](thing, name),
  }
}

/** An operation that is refused without all of these things. */
const needing = (made: Operation, ...keys: readonly string[]): Operation => ({
  ...made,
  succeed: (state, answer) => (keys.every((key) => state.has(key)) ? made.succeed(state, answer) : undefined),
})

const unlinkFromObject = (id: number): Operation => ({
  ...unlink(id),
  run: (site) => site.request('DELETE', `news/${id}/categories`, { body: { items: [{ categoryId: category }] } }),
})

const read = (path: string, key: string): Operation => ({
  label: `read ${path}`,
  run: (site) => site.request('GET', path),
  succeed: (state, { json }) => ([undefined, state.get(key)].includes(json?.name) ? state : undefined),
})

const newsEntry = ({ id, subject, slug }: tables.Item, state: State) => {
  const isOwn = state.get('subject 2') === subject && state.get('slug 2') === slug
  return [`news ${id}`, id === staying && isOwn ? '' : subject]
}
const linkEntry = (id: number) => (_: tables.Item, state: State) => [`link ${id}`, state.get(`link ${id}`)]

const reads: readonly Operation[] = [
  listing('categories', 'category ', ({ id, name }) => [`category ${id}`, name]),
  listing('news', 'news ', newsEntry),
  listing('webforms', 'form ', ({ id, name }) => [`form ${id}`, name]),
  ...[read(`categories/${category}`, categoryKey), listLinks].map((one) => needing(one, categoryKey)),
  ...[read(`webforms/${form}`, formKey), listFields].map((one) => needing(one, formKey)),
  ...objects.map((id) => needing(listing(`news/${id}/categories`, `link ${id}`, linkEntry(id)), `news ${id}`)),
]

/** New content with the ids of removed content must have no links or fields. */
export const readContent = [...reads, ...things.slice(0, 3).map((thing) => change(thing, 'created')), ...reads]

const links = [(id: number) => link(id, 1), (id: number) => linkFromObject(id, 0), unlinkFromObject]
const fields = [() => addField(-2, 1), () => addField(-3, undefined), () => moveField(-2, 2)]

export const anyContentOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  ...things.flatMap((thing) => fates.flatMap((fate) => (thing[fate] ? [fc.constant(() => change(thing, fate))] : []))),
  ...objects.flatMap((id) => [
    ...links.map((make) => fc.constant(() => needing(make(id), categoryKey, `news ${id}`))),
    fc.constant(() => needing(unlink(id), categoryKey)),
  ]),
  ...fields.map((make) => fc.constant(() => needing(make(), formKey))),
)
