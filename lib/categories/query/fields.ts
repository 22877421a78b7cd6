import type { Item, ItemShape, Members, Scalar, Scalars } from '../../core/item-shape.ts'

/** The part of an item that the answer shows. */
export interface Selection {
  /** Whether a member of an inner object is shown. */
  readonly shows: (object: string, member?: string) => boolean
  /** Whether a member of the item's own is shown. */
  readonly showsOwn: (member: string) => boolean
  readonly select: (item: Item) => Item
}

/** Names chosen inside an object; undefined stands for all of them. */
type Chosen = ReadonlySet<string> | undefined

/** The names outside parentheses, each with those in parentheses behind it. */
const terms = (text: string): { name: string; inner?: string[] }[] =>
  [...text.matchAll(/([^,()]+)(?:\(([^()]*)\))?/g)].map(([, name = '', inner]) => ({
    name: name.trim(),
    ...(inner !== undefined && { inner: inner.split(',').map((part) => part.trim()) }),
  }))

const pick = (object: Scalars, members: Members, chosen: Chosen): Scalars => {
  const picked: Record<string, Scalar> = {}
  for (const name of Object.keys(members)) {
    const value = object[name]
    if (value !== undefined && (!chosen || chosen.has(name))) picked[name] = value
  }
  return picked
}

const selection = ({ own, objects }: ItemShape, chosenOwn: Chosen, chosenObjects: ReadonlyMap<string, Chosen>) => ({
  shows: (object: string, member?: string) =>
    chosenObjects.has(object) && (member === undefined || (chosenObjects.get(object)?.has(member) ?? true)),
  showsOwn: (member: string) => !chosenOwn || chosenOwn.has(member),
  select(item: Item): Item {
    const selected: Record<string, Scalar | Scalars> = {}
    for (const name of Object.keys(own)) {
      const value = item[name]
      if (value !== undefined && (!chosenOwn || chosenOwn.has(name))) selected[name] = value
    }
    for (const { name, members } of objects) {
      const inner = item[name]
      if (chosenObjects.has(name) && typeof inner === 'object' && inner !== null) {
        selected[name] = pick(inner, members, chosenObjects.get(name))
      }
    }
    return selected
  },
})

/** What is shown without the switch: everything but what must be asked for. */
export const standardFields = (shape: ItemShape): Selection =>
  selection(
    shape,
    undefined,
    new Map(shape.objects.filter(({ standard }) => standard).map(({ name }) => [name, undefined])),
  )

/**
 * Reads the switch `fields`: a comma list in which `news(subject,slug)` and `news.subject` narrow the object. Unknown names
 * are ignored; when nothing known is left, it is as if the switch were absent (decisions.md, section 4).
 */
export const parseFields = (text: string, shape: ItemShape): Selection => {
  const own = new Set<string>()
  const objects = new Map<string, Chosen>()
  const choose = (object: ItemShape['objects'][number], names: readonly string[]) => {
    const known = names.filter((name) => Object.hasOwn(object.members, name))
    // The whole object was asked for already: naming parts of it takes nothing away.
    if (known.length === 0 || (objects.has(object.name) && !objects.get(object.name))) return
    objects.set(object.name, new Set([...(objects.get(object.name) ?? []), ...known]))
  }

  for (const { name, inner } of terms(text)) {
    const [objectName = '', member] = name.split('.', 2)
    const object = shape.objects.find((candidate) => candidate.name === objectName)
    if (object && member !== undefined) choose(object, [member])
    else if (object && inner) choose(object, inner)
    else if (object) objects.set(object.name, undefined)
    else if (Object.hasOwn(shape.own, name)) own.add(name)
  }
  return own.size + objects.size > 0 ? selection(shape, own, objects) : standardFields(shape)
}
