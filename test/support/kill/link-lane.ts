import type { CategoryId, SiteId } from '../../../lib/core/ids.ts'
import type { Machine } from '../../../lib/machine/machine.ts'
import type { Lane, Step } from './lane.ts'

type Links = readonly (readonly [id: number, displayable: number])[]

const site = 1001 as SiteId
const category = 3 as CategoryId
const kind = 'blog'
const path = `/webresources/api/v3/sites/current/categories/${category}/blogs`
const ids = [1, 2, 3, 4, 5, 6, 7, 8] as const

const some = (): readonly number[] => {
  const chosen = ids.filter(() => Math.random() < 0.5)
  return chosen.length > 0 ? chosen : [ids[0]]
}

const link = (links: Links): Step<Links> => {
  const chosen = some()
  const displayable = Math.random() < 0.5 ? 0 : 1
  const others = links.filter(([id]) => !chosen.includes(id))
  const after = [...others, ...chosen.map((id) => [id, displayable] as const)]
  return {
    name: `link ${chosen}`,
    path,
    init: { method: 'POST', body: JSON.stringify({ items: chosen.map((objectId) => ({ objectId, displayable })) }) },
    after: after.toSorted(([a], [b]) => a - b),
  }
}

const unlink = (links: Links): Step<Links> => {
  const chosen = some()
  return {
    name: `unlink ${chosen}`,
    path,
    init: { method: 'DELETE', body: JSON.stringify({ items: chosen.map((objectId) => ({ objectId })) }) },
    after: links.filter(([id]) => !chosen.includes(id)),
  }
}

/** The links of the category. Throws an Error if the links of an object differ. */
const observe = async ({ stores: { links } }: Machine): Promise<Links> => {
  const found = await links.list({ site, kind, category }, 0, 500)
  for (const id of ids) {
    const isLinked = (await links.categoriesOf({ site, kind, id }, 0, 500)).includes(category)
    const isListed = found.some((each) => each.id === id)
    if (isLinked !== isListed) throw new Error(`The links of blog ${id} and of category ${category} disagree`)
  }
  return found.map(({ id, displayable }) => [id, displayable ? 1 : 0])
}

export const linkLane = (): Lane<Links> => ({
  name: 'links',
  start: [
    [2, 1],
    [5, 1],
    [8, 1],
  ],
  next: (links) => (Math.random() < 0.6 ? link(links) : unlink(links)),
  observe,
})
