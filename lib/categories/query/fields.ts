import type { Members } from '../../core/object-kinds.ts'
import type { Item, ItemShape } from './item-shape.ts'

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

export const standardFields = (shape: ItemShape): Selection => {
  const standard = shape.objects.filter((object) => object.standard)
  return selection(shape, 'all', new Map(standard.map(({ name }) => [name, 'all'])))
}

/** C-24 to C-27. */
export const parseFields = (text: string, shape: ItemShape): Selection => {
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
  return own.size + objects.size > 0 ? selection(shape, own, objects) : standardFields(shape)
}
