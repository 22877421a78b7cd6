import { assert, boolean, constantFrom, dictionary, property as forAll, nat, option, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { FileState, Fingerprint, PlanOptions, SeenState, Step } from '../../client/src/sync/index.ts'
import { nextBase, plan } from '../../client/src/sync/plan.ts'
import { timesToTry } from '../support/each-call.ts'

type Side = ReadonlyMap<string, FileState>

const paths = constantFrom('a', 'b', 'c', 'd/e', 'd/f')
const fingerprints = constantFrom('1', '2', '3').map((form): Fingerprint => [form])
const sides = dictionary(paths, fingerprints).map(
  (files): Side => new Map(Object.entries(files).map(([path, fingerprint]) => [path, { size: 1, fingerprint }])),
)
const states = record({ local: fingerprints, remote: fingerprints }, { requiredKeys: [] })
const bases = option(dictionary(paths, states), { nil: undefined, freq: 3 }).map(
  (seen) => seen && new Map<string, SeenState>(Object.entries(seen)),
)
const choices = record({ direction: constantFrom('push', 'pull'), removes: boolean(), force: boolean() })
const situations = record({ local: sides, remote: sides, base: bases, options: choices })
type Situation = ReturnType<(typeof situations)['generate']>['value']

/** The state of both sides, and the remembered state, after these steps of a plan. */
const carryOut = (
  local: Side,
  remote: Side,
  base: ReadonlyMap<string, SeenState> | undefined,
  steps: readonly Step[],
  { direction }: PlanOptions,
) => {
  const [source, target] = direction === 'push' ? [local, new Map(remote)] : [remote, new Map(local)]
  const done = new Map<string, Fingerprint | undefined>()
  for (const { action, path } of steps) {
    if (action === 'keep' || action === 'conflict') continue
    const state = action === 'remove' ? undefined : source.get(path)
    if (state) target.set(path, state)
    else target.delete(path)
    done.set(path, state?.fingerprint)
  }
  const seen = nextBase(local, remote, base, done, direction)
  return direction === 'push' ? { local, remote: target, seen } : { local: target, remote, seen }
}

/** A test with random situations, and a random number of completed steps. */
const property = (title: string, holds: (situation: Situation, count: number) => void) =>
  test(title, () => assert(forAll(situations, nat(5), holds), { numRuns: timesToTry(500) }))

const writes = (steps: readonly Step[]) => steps.filter(({ action }) => action !== 'keep' && action !== 'conflict')
const forms = (side: Side) => Object.fromEntries([...side].map(([path, { fingerprint }]) => [path, fingerprint]))

property('a plan after a stop anywhere has the other steps and the same conflicts (T-45)', (situation, count) => {
  const { local, remote, base, options } = situation
  const steps = plan(local, remote, base, options)
  const after = carryOut(local, remote, base, writes(steps).slice(0, count), options)
  const again = plan(after.local, after.remote, after.seen, options)
  expect(writes(again)).toStrictEqual(writes(steps).slice(count))
  const conflicts = (of: readonly Step[]) => of.filter(({ action }) => action === 'conflict')
  expect(conflicts(again)).toStrictEqual(conflicts(steps))
})

property('a plan never writes to its source, and removes only with permission', ({ local, remote, base, options }) => {
  const steps = plan(local, remote, base, { ...options, removes: false })
  expect(steps.filter(({ action }) => action === 'remove')).toStrictEqual([])
  const after = carryOut(local, remote, base, steps, options)
  for (const path of [...local.keys()]) expect(after.local.has(path)).toBe(true)
  for (const path of [...remote.keys()]) expect(after.remote.has(path)).toBe(true)
})

property('without --delete, a plan lists as extra what --delete removes', ({ local, remote, base, options }) => {
  const steps = plan(local, remote, base, { ...options, removes: false })
  const after = carryOut(local, remote, base, steps, options)
  const removing = plan(after.local, after.remote, after.seen, { ...options, removes: true })
  const extra = steps.filter((step) => step.action === 'keep' && step.why === 'extra')
  const pathsOf = (of: readonly Step[]) => of.map(({ path }) => path)
  expect(pathsOf(extra)).toStrictEqual(pathsOf(removing.filter(({ action }) => action === 'remove')))
})

property('without force, a changed file of the target is never overwritten', ({ local, remote, base, options }) => {
  const target = options.direction === 'push' ? remote : local
  const lastSeen = (path: string) => base?.get(path)?.[options.direction === 'push' ? 'remote' : 'local']
  const steps = plan(local, remote, base, { ...options, force: false })
  for (const { path } of writes(steps)) {
    if (base) expect(target.get(path)?.fingerprint).toStrictEqual(lastSeen(path))
  }
  // A pull that replaces a file that was never synchronised would destroy the only copy.
  for (const { action, path } of options.direction === 'pull' ? steps : [])
    if (action === 'replace') expect(base?.get(path)).toHaveProperty('remote', base?.get(path)?.local)
})

property(
  'no run removes a file that a stopped first run missed',
  ({ local, remote, options: { direction } }, count) => {
    const steps = plan(local, remote, undefined, { direction })
    const after = carryOut(local, remote, undefined, writes(steps).slice(0, count), { direction })
    const back = plan(after.local, after.remote, after.seen, {
      direction: direction === 'push' ? 'pull' : 'push',
      removes: true,
    })
    expect(back.filter(({ action }) => action === 'remove')).toStrictEqual([])
  },
)

property('with force and removal, both sides become equal', ({ local, remote, base, options: { direction } }) => {
  const options = { direction, removes: true, force: true }
  const steps = plan(local, remote, base, options)
  const after = carryOut(local, remote, base, steps, options)
  expect(forms(after.local)).toStrictEqual(forms(after.remote))
})

test('two files are equal if any form of their fingerprints is equal (S-85)', () => {
  const one = new Map([['a', { size: 1, fingerprint: ['whole', 'whole-1'] }]])
  const other = new Map([['a', { size: 1, fingerprint: ['whole-1'] }]])
  expect(plan(one, other, undefined, { direction: 'push' })).toStrictEqual([
    { action: 'keep', path: 'a', size: 1, why: 'equal' },
  ])
})
