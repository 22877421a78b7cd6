import { defaultView, type Kind, type ListView, type SortKey } from './objects-store.ts'

const sorts: readonly SortKey[] = ['title', 'released', 'id']

export const parseListView = ({ q = '', sort = '', page = '' }: Readonly<Record<string, string>>): ListView => ({
  search: q.slice(0, 200),
  sort: sorts.find((each) => each === sort.replace(/^-/, '')) ?? defaultView.sort,
  isDescending: sort === '' ? defaultView.isDescending : sort.startsWith('-'),
  page: /^[1-9]\d{0,6}$/.test(page) ? Number(page) - 1 : 0,
})

/** Leaves default values empty. */
export const queryFor = (
  kind: Kind,
  { search, sort, isDescending, page }: ListView,
): Readonly<Record<string, string>> => {
  const isUsual = sort === defaultView.sort && isDescending === defaultView.isDescending
  return {
    kind: kind === 'news' ? '' : kind,
    q: search.trim(),
    sort: isUsual ? '' : `${isDescending ? '-' : ''}${sort}`,
    page: page === 0 ? '' : String(page + 1),
  }
}
