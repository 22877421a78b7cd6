import { firstLook, type Kind, type Look, type SortKey } from './objects-store.ts'

const sorts: readonly SortKey[] = ['title', 'released', 'id']

/** Accepts any address. */
export const parseLook = ({ q = '', sort = '', page = '' }: Readonly<Record<string, string>>): Look => ({
  search: q.slice(0, 200),
  sort: sorts.find((each) => each === sort.replace(/^-/, '')) ?? firstLook.sort,
  isDescending: sort === '' ? firstLook.isDescending : sort.startsWith('-'),
  page: /^[1-9]\d{0,6}$/.test(page) ? Number(page) - 1 : 0,
})

/** Leaves out default values. */
export const queryFor = (kind: Kind, { search, sort, isDescending, page }: Look): Readonly<Record<string, string>> => {
  const isUsual = sort === firstLook.sort && isDescending === firstLook.isDescending
  return {
    kind: kind === 'news' ? '' : kind,
    q: search.trim(),
    sort: isUsual ? '' : `${isDescending ? '-' : ''}${sort}`,
    page: page === 0 ? '' : String(page + 1),
  }
}
