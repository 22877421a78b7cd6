import fc from 'fast-check'
import type { Operation, State } from './operations.ts'

// The role of each person, such as `owner` or `disabled owner`.

const isOwned = (state: State): boolean => [...state].some(([, role]) => role === 'owner')

/** A change of nothing is allowed. */
const withOwner = (before: State, after: State): State | undefined =>
  isOwned(after) || !isOwned(before) ? after : undefined

const changed = (state: State, name: string, change: (role: string) => string): State | undefined => {
  const role = state.get(name)
  return role === undefined ? undefined : withOwner(state, new Map([...state, [name, change(role)]]))
}

const setRole = (name: string, role: 'owner' | 'editor'): Operation => ({
  label: `make ${name} ${role}`,
  run: (site) => site.request('PUT', `users/${name}`, { body: { role } }),
  succeed: (state) => changed(state, name, (before) => before.replace(/\w+$/, role)),
  entry: `changed user/${name}`,
})

const disable = (name: string, disabled: boolean): Operation => ({
  label: `${disabled ? 'disable' : 'enable'} ${name}`,
  run: (site) => site.request('PUT', `users/${name}`, { body: { disabled } }),
  succeed: (state) =>
    changed(state, name, (before) => `${disabled ? 'disabled ' : ''}${before.replace(/^disabled /, '')}`),
  entry: `changed user/${name}`,
})

const removePerson = (name: string): Operation => ({
  label: `remove ${name}`,
  run: (site) => site.request('DELETE', `users/${name}`),
  succeed: (state) =>
    state.has(name) ? withOwner(state, new Map([...state].filter(([one]) => one !== name))) : undefined,
  // After a lost answer, a removal finds nothing. Another caller may have removed the person.
  inRace: (state) => (state.has(name) ? undefined : state),
  entry: `removed user/${name}`,
})

export const listPeople: Operation = {
  label: 'list people',
  run: (site) => site.request('GET', 'users'),
  succeed(state, { json }) {
    const found = json?.users?.map(({ name, role, disabled }: Record<string, unknown>) => [
      String(name).replace(/\.\d+$/, ''),
      `${disabled ? 'disabled ' : ''}${role}`,
    ])
    return JSON.stringify([...state].sort()) === JSON.stringify(found?.sort()) ? state : undefined
  },
}

/** The people of each site at its beginning. */
export const firstPeople = { ann: 'owner', bob: 'owner', cat: 'editor' } as const

const anyName = fc.constantFrom(...Object.keys(firstPeople))

export const anyPeopleOperation: fc.Arbitrary<() => Operation> = fc.oneof(
  fc.tuple(anyName, fc.constantFrom('owner' as const, 'editor' as const)).map((wanted) => () => setRole(...wanted)),
  fc.tuple(anyName, fc.boolean()).map((wanted) => () => disable(...wanted)),
  anyName.map((name) => () => removePerson(name)),
)
