import { newPerson } from '../../lib/access/people.ts'
import { authenticatePerson, hashPassword, type SignInDeps } from '../../lib/access/sign-in.ts'
import { systemClock } from '../../lib/core/time.ts'
import { fillDirectory, site } from '../../test/support/every-operation.ts'
import { send } from '../../test/support/gateway.ts'
import { atMost, type Bench, median, quantile, type Table } from './measure/figures.ts'
import { onMachine, storageOf } from './measure/grounds.ts'

const alone = 50
const beside = 50

const password = 'correct horse battery'

/** In milliseconds: the time of a sign-in, accepted or refused. */
const timeOf = async (deps: SignInDeps, username: string, own: string): Promise<number> => {
  const startedAt = performance.now()
  const person = await deps.people.get(username, true)
  await authenticatePerson(deps, { username, password: own, address: '192.0.2.1' }, person).catch(() => {})
  return performance.now() - startedAt
}

const figuresOf = (samples: readonly number[]) => [
  median(samples).toFixed(2),
  quantile(samples, 0.05).toFixed(2),
  quantile(samples, 0.95).toFixed(2),
]

/** tries a known and an unknown name in turns, so other load affects both. Ends after `longest` milliseconds. */
const compareNames = async (deps: SignInDeps, tries: number, longest: number): Promise<Table> => {
  const [known, unknown]: [number[], number[]] = [[], []]
  const until = performance.now() + longest
  while (known.length < tries && performance.now() < until) {
    known.push(await timeOf(deps, 'ann', 'wrong password'))
    unknown.push(await timeOf(deps, 'bob', 'wrong password'))
  }
  const difference = Math.abs(median(known) - median(unknown))
  const spread = quantile(known, 0.95) - quantile(known, 0.05)
  return {
    title: `Refused sign-ins, ms (${known.length} each, in turns)`,
    columns: ['name', 'p50', 'p5', 'p95', 'target', 'verdict'],
    rows: [
      ['known', ...figuresOf(known), '', ''],
      ['unknown', ...figuresOf(unknown), '', ''],
      [
        'difference of the medians, of the spread',
        (difference / spread).toFixed(3),
        '',
        '',
        ...atMost(difference / spread, 0.1),
      ],
    ],
  }
}

type ReadFile = () => Promise<unknown>

/**
 * Measures how long a request for a file on the disk takes while sign-ins run, because hashing and reading files use the
 * same threads. Also measures how long a single sign-in takes.
 */
const measureLoad = async (deps: SignInDeps, readFile: ReadFile): Promise<Table> => {
  const lone: number[] = []
  for (let index = 0; index < alone; index++) lone.push(await timeOf(deps, 'ann', password))
  const waits: number[] = []
  let isDone = false
  const all = Promise.allSettled(Array.from({ length: beside }, () => timeOf(deps, 'ann', password))).then(() => {
    isDone = true
  })
  while (!isDone) {
    const startedAt = performance.now()
    await readFile()
    waits.push(performance.now() - startedAt)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await all
  const [slowest, delayed] = [quantile(lone, 0.95), quantile(waits, 0.99)]
  return {
    title: `Sign-ins, ms (${alone} one after another; ${beside} at once)`,
    columns: ['figure', 'ms', 'target', 'verdict'],
    rows: [
      ['a lone sign-in, p95', slowest.toFixed(1), ...atMost(slowest, 150)],
      [`GET of a file of 64 KiB beside them, p99 of ${waits.length}`, delayed.toFixed(1), ...atMost(delayed, 50)],
    ],
  }
}

/** Measures sign-ins on one machine, without their limits. */
const onOneMachine = (measure: (deps: SignInDeps, readFile: ReadFile) => Promise<readonly Table[]>) =>
  onMachine(async ({ stores }) => {
    const ann = newPerson({ name: 'ann', displayName: 'Ann', email: '', sites: {} }, 1)
    await stores.people.create({ ...ann, password: await hashPassword(password) }, [])
    const [handler, token] = [storageOf(stores), await fillDirectory(stores)]
    const ask = (method: string, body?: Buffer) =>
      send(handler, method, `/api/v2/admin/sites/${site}/storage/file.bin`, { headers: { Authorization: token }, body })
    await ask('PUT', Buffer.alloc(64 * 1024))
    const readFile = () => ask('GET')
    const unlimited = { count: async () => 0, forgive: async () => {} }
    const deps = { ...stores, attempts: unlimited, findSite: stores.sites.getSite, clock: systemClock }
    return measure(deps, readFile)
  })

export const signIns: Bench = () =>
  onOneMachine(async (deps, readFile) => [await measureLoad(deps, readFile), await compareNames(deps, 100, 25_000)])

export const signInNames: Bench = () => onOneMachine(async (deps) => [await compareNames(deps, 10_000, 600_000)])
