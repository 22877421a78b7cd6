import fc from 'fast-check'
import { content } from './file-operations.ts'
import { isShownBy, type Operation, type State } from './operations.ts'
import type { ScheduledSite } from './scheduled-stores.ts'

// The live bytes of each page, and its draft after `draft `.

const draftOf = (page: string): string => `draft ${page}`
const goneOf = (page: string): string => `gone ${page}`

const without = (state: State, ...names: readonly string[]): Map<string, string> =>
  new Map([...state].filter(([name]) => !names.includes(name)))

/** A look at a page and its draft may find neither, if another caller publishes the draft in between. */
const mayMiss = { attempt: (state: State) => state }

let moves = 0
const isMoving = (state: State): boolean => [...state.keys()].some((name) => name.startsWith('moving '))

/** A removal beside a move may miss what the move hides, or remove a copy that the move makes again. */
const besideMove = (state: State, ...names: readonly string[]): readonly State[] =>
  isMoving(state) ? [state, ...names.map((name) => without(state, name))] : []

const at = (page: string) => `storage/${page}`

/** S-48: publishing removes the draft. */
const publish = (page: string, bytes = content()): Operation => ({
  label: `publish ${page} ${bytes}`,
  run: (site) => site.request('PUT', at(page), { body: bytes }),
  succeed: (state) => without(state, draftOf(page)).set(page, bytes),
  entry: `stored ${page}`,
})

const saveDraft = (page: string, bytes = content()): Operation => ({
  label: `draft ${page} ${bytes}`,
  run: (site) => site.request('PUT', at(page), { body: bytes, query: { version: 'draft' } }),
  succeed: (state) => new Map([...state, [draftOf(page), bytes]]),
  entry: `stored ${page}`,
})

const removed = (state: State, page: string, ...names: readonly string[]) =>
  without(state, ...names).set(goneOf(page), 'true')

const removeDraft = (page: string): Operation => ({
  label: `remove draft ${page}`,
  run: (site) => site.request('DELETE', at(page), { query: { version: 'draft' } }),
  succeed: (state) => (state.has(page) || state.has(draftOf(page)) ? removed(state, page, draftOf(page)) : undefined),
  ...mayMiss,
  inRace: (state) => [state.has(goneOf(page)) ? state : undefined, ...besideMove(state)],
  entry: `removed ${page}`,
  mayHaveNoEntry: true,
})

const remove = (page: string): Operation => ({
  label: `remove ${page}`,
  run: (site) => site.request('DELETE', at(page)),
  succeed: (state) =>
    state.has(page) || state.has(draftOf(page)) ? removed(state, page, page, draftOf(page)) : undefined,
  ...mayMiss,
  inRace: (state) => [state.has(goneOf(page)) ? state : undefined, ...besideMove(state, page, draftOf(page))],
  entry: `removed ${page}`,
  mayHaveNoEntry: true,
  // If another caller publishes the page or stores a draft meanwhile, the removal removes it with a second entry.
  mostEntries: 2,
})

const move = (from: string, to: string): Operation => {
  const running = `moving ${moves++}`
  const begin = (state: State): State => new Map([...state, [running, from]])
  return {
    label: `move ${from} to ${to}`,
    run: (site) => site.request('PUT', at(from), { query: { meta: '' }, body: { path: to } }),
    begin: (state) => [begin(state)],
    succeed(state) {
      const moved = [from, draftOf(from)].flatMap((name) => {
        const bytes = state.get(name)
        return bytes === undefined ? [] : [[name.replace(from, to), bytes] as const]
      })
      if (moved.length === 0 || state.has(to) || state.has(draftOf(to))) return undefined
      return new Map([...removed(state, from, running, from, draftOf(from)), ...moved])
    },
    attempt: begin,
    entry: `moved ${from}`,
  }
}

const read = (page: string, version: 'live' | 'draft'): Operation => ({
  label: `read ${version} of ${page}`,
  run: (site: ScheduledSite) =>
    site.request('GET', at(page), version === 'draft' ? { query: { version: 'draft' } } : {}),
  succeed(state, answer) {
    const bytes = version === 'draft' ? (state.get(draftOf(page)) ?? state.get(page)) : state.get(page)
    return isShownBy(answer, bytes) ? state : undefined
  },
})

const pages = ['p.html', 'q.html'] as const
export const readPages: readonly Operation[] = pages.flatMap((page) => [read(page, 'live'), read(page, 'draft')])

const anyPage = fc.constantFrom('p.html', 'p.html', 'q.html')

export const anyPageOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  anyPage.map((page) => () => publish(page)),
  anyPage.map((page) => () => saveDraft(page)),
  anyPage.map((page) => () => removeDraft(page)),
  anyPage.map((page) => () => remove(page)),
  fc.constantFrom(...pages).map((page) => () => move(page, page === 'p.html' ? 'q.html' : 'p.html')),
)
