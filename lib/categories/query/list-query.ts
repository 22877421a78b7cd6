import { createHash } from 'node:crypto'
import { invalidInput, type Problem } from '../../core/errors.ts'
import type { Members } from '../../core/object-kinds.ts'
import { type Comparable, type Item, type ItemShape, type Position, parseOrder, QueryFault } from './item-shape.ts'
import { parseWhere, type Where } from './where.ts'

type Chosen = ReadonlySet<string> | 'all'

// `a,news(subject,slug)` selects `a`, and the members `subject` and `slug` of `news`.
const terms = (text: string): { name: string; inner?: string[] }[] =>
  [...text.matchAll(/([^,()]+)(?:\(([^()]*)\))?/g)].map(([, name = '', inner]) => ({
    name: name.trim(),
    ...(inner !== undefined && { inner: inner.split(',').map((part) => part.trim()) }),
  }))

const has = (chosen: Chosen | undefined, name: string): boolean => chosen === 'all' || chosen?.has(name) === true

const pick = <Value>(from: Readonly<Record<string, Value>>, members: Members, chosen: Chosen) => {
  const picked: Record<string, Value> = {}
  for (const name of Object.keys(members)) {
    const value = from[name]
    if (value !== undefined && has(chosen, name)) picked[name] = value
  }
  return picked
}

const selection = ({ own, objects }: ItemShape, chosenOwn: Chosen, chosenObjects: ReadonlyMap<string, Chosen>) => ({
  shows: (object: string, member: string) => has(chosenObjects.get(object), member),
  showsOwn: (member: string) => has(chosenOwn, member),
  select(item: Item): Item {
    const selected = pick(item, own, chosenOwn)
    for (const { name, members } of objects) {
      const inner = item[name]
      const chosen = chosenObjects.get(name)
      if (chosen !== undefined && typeof inner === 'object' && inner !== null) {
        selected[name] = pick(inner, members, chosen)
      }
    }
    return selected
  },
})

export type Selection = ReturnType<typeof selection>

/** C-24 to C-27. Without a known name, selects the default members. */
const parseFields = (text: string, shape: ItemShape): Selection => {
  const own = new Set<string>()
  const objects = new Map<string, Chosen>()
  const choose = ({ name, members }: ItemShape['objects'][number], names: readonly string[]) => {
    const known = names.filter((member) => Object.hasOwn(members, member))
    const before = objects.get(name) ?? []
    // If `fields` names a whole object and some of its members, the object stays whole.
    if (known.length > 0 && before !== 'all') objects.set(name, new Set([...before, ...known]))
  }

  for (const { name, inner } of terms(text)) {
    const [objectName = '', member] = name.split('.', 2)
    const object = shape.objects.find((candidate) => candidate.name === objectName)
    if (object && member !== undefined) choose(object, [member])
    else if (object && inner) choose(object, inner)
    else if (object) objects.set(object.name, 'all')
    else if (Object.hasOwn(shape.own, name)) own.add(name)
  }
  if (own.size + objects.size > 0) return selection(shape, own, objects)
  const standard = shape.objects.filter((object) => object.standard)
  return selection(shape, 'all', new Map(standard.map(({ name }) => [name, 'all'])))
}

export const standardLimit = 10
export const largestLimit = 500

export interface ListDescription {
  readonly shape: ItemShape
  readonly identity: readonly (string | number)[]
}

const readInteger = (text: string): number => {
  const word = text.trim()
  if (!/^\d+$/.test(word)) throw new QueryFault('must be a whole number, 0 or more')
  return Math.min(Number(word), Number.MAX_SAFE_INTEGER)
}

const switches = ['fields', 'where', 'order', 'skip', 'limit', 'cursor', 'count'] as const

/** C-9: an empty switch counts as absent, except `cursor`. Errors: categoriesMalformed, with every fault. */
export const parseListQuery = (query: ReadonlyMap<string, string>, { shape, identity }: ListDescription) => {
  const problems: Problem[] = []
  const textOf = (name: string): string | undefined => {
    const text = query.get(name)
    return text === 'undefined' ? undefined : text
  }
  const read = <Value>(name: string, absent: Value, parse: (text: string) => Value): Value => {
    const text = textOf(name)
    if (!text) return absent
    try {
      return parse(text)
    } catch (error) {
      if (!(error instanceof QueryFault)) throw error
      problems.push({ path: name, message: error.message })
      return absent
    }
  }

  const fields = parseFields(textOf('fields') ?? '', shape)
  const where = read<Where | undefined>('where', undefined, (text) => parseWhere(text, shape))
  const order = read('order', parseOrder('', shape), (text) => parseOrder(text, shape))
  const skip = read('skip', 0, readInteger)
  const limit = read('limit', standardLimit, (text) => Math.min(readInteger(text), largestLimit))
  const hash = () => listHash([...identity, where ? (textOf('where') ?? '') : '', order.text])
  const cursor = textOf('cursor')
  const readAfter = (text: string) => readCursor(text, hash(), order.members.length)
  const after = problems.length === 0 ? read('cursor', undefined, readAfter) : undefined
  if (cursor !== undefined && skip > 0)
    problems.push({ path: 'skip', message: 'cannot be combined with cursor. Leave out one of the two' })
  if (problems.length > 0) throw invalidInput('categoriesMalformed', problems)

  // C-14, C-17: a page by `skip` always has the total. A page by `cursor` has the total only with `count`.
  const byCursor = { by: 'cursor', after, count: textOf('count') === 'true' } as const
  const paging = cursor === undefined ? ({ by: 'skip', skip } as const) : byCursor
  return {
    fields,
    where: where && where.members.length > 0 ? where : undefined,
    order,
    limit,
    paging,
    cursorAfter: (position: Position | undefined): string => writeCursor(hash(), position),
    page: JSON.stringify([identity, switches.map(textOf)]),
  }
}

export type ListQuery = ReturnType<typeof parseListQuery>

const listHash = (parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12)

const writeCursor = (hash: string, position: Position | undefined): string =>
  Buffer.from(JSON.stringify(position ? [hash, position.key, ...position.values] : [hash])).toString('base64url')

const parse = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

const isComparable = (value: unknown): value is Comparable => Object(value) !== value

// C-18. Throws QueryFault for a malformed cursor and for a cursor of another list.
const readCursor = (text: string, hash: string, members: number): Position | undefined => {
  const parts = parse(text)
  if (!Array.isArray(parts)) throw new QueryFault('is not a cursor of this service. Send nextCursor unchanged')
  const [listed, key, ...values] = parts as readonly unknown[]
  if (listed !== hash) throw new QueryFault('belongs to a list with other parameters. Begin again with an empty cursor')
  const isPosition = Number.isSafeInteger(key) && values.length === members && values.every(isComparable)
  const position = isPosition ? { key: Number(key), values } : undefined
  // The decoder accepts several spellings of the same bytes, so the text must equal the spelling of the service.
  if (writeCursor(hash, position) !== text)
    throw new QueryFault('is not a cursor of this service. Send nextCursor unchanged')
  return position
}
