import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { anyContentOperation, firstContent, readContent } from './content-operations.ts'
import {
  anyFileOperation,
  anyFolderOperation,
  anyLargeFolderOperation,
  anyMove,
  anyNameOperation,
  anyPurgedOperation,
  anyRestoredOperation,
  anyUploadOperation,
  list,
  put,
  read,
  readVersions,
  remove,
  storeBoth,
  upload,
} from './file-operations.ts'
import { isLinearizable, type Observed } from './linearizable.ts'
import { type Operation, observe, type State, write } from './operations.ts'
import { anyPageOperation, readPages } from './page-operations.ts'
import { anyPeopleOperation, firstPeople, listPeople } from './people-operations.ts'
import {
  createTurns,
  type Fate,
  type Options,
  openScheduledStores,
  type Plant,
  type ScheduledSite,
  watchHashes,
} from './scheduled-stores.ts'
import { anySessionOperation, beginSession, people, useAll } from './session-operations.ts'
import { anyTableOperation, listFields, listLinks } from './table-operations.ts'

// `npm run prove` sets a larger number of interleavings, and a new seed each time.
const { PROVE_COUNT = process.env['EVERY_CALL'] === '1' ? '2000' : '30', PROVE_SEED = '12', PROVE_PATH } = process.env
const count = Number(PROVE_COUNT)

/** In milliseconds: enough for a busy machine. */
const patience = 60_000 + count * 500

const time = { now: 1_800_000_000_000 }
const turns = createTurns(time)
/** New stores are opened from time to time, because large ones are slow: a bucket in memory sorts all of its keys. */
const sitesPerStore = 100

const createSites = (options: Options) => {
  let stores: ReturnType<typeof openScheduledStores> | undefined
  let sites = 0
  return async (): Promise<ScheduledSite> => {
    if (sites++ % sitesPerStore === 0) stores = openScheduledStores(turns, time, options)
    return (await stores)?.() as Promise<ScheduledSite>
  }
}

const { now } = Date
const { random } = Math

beforeAll(() => {
  // Renewals of leases follow the clock of the test.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  // A plain function, because a spy would remember each of the millions of calls.
  Date.now = () => time.now
  // The SDK waits for a random time before it repeats a call.
  Math.random = () => 0
  watchHashes(true)
})
afterAll(() => {
  vi.useRealTimers()
  Date.now = now
  Math.random = random
  watchHashes(false)
})

const createWatch = (site: ScheduledSite) => {
  const observed: Observed<State>[] = []
  const answered: { readonly operation: Operation; readonly status: number }[] = []
  let moment = 0
  let running = 0
  const run = async (operation: Operation): Promise<void> => {
    const begin = moment++
    const isFirst = running++ === 0
    const answer = await operation.run(site)
    running -= 1
    const isAlone = isFirst && moment === begin + 1 && !site.isRemoving()
    answered.push({ operation, status: answer.status })
    observed.push(...observe(operation, answer, { begin, end: moment++, isAlone }))
  }
  const story = () => [...new Set(observed.map(({ label, begin, end }) => `${begin}-${end} ${label}`))].join('\n')
  return { run, observed, answered, story }
}
type Watch = ReturnType<typeof createWatch>

/** H-1: each change has one entry. A change that answered 503 may have an entry. */
const expectEntries = async (site: ScheduledSite, { answered, story }: Watch): Promise<void> => {
  const { items } = (await site.request('GET', 'changes', { query: { after: '', limit: '500' } })).json
  const entries: readonly string[] = items.map((item: { type: string; subject: string }) => {
    // Names of people end with the id of their site.
    return `${item.type.split('.')[1]} ${item.subject.replace(/\.\d+$/, '')}`
  })
  const named = answered.filter(({ operation: { entry }, status }) => entry && (status < 300 || status === 503))
  for (const name of new Set([...entries, ...named.map(({ operation }) => operation.entry)])) {
    const own = named.filter(({ operation }) => operation.entry === name)
    const least = own.filter(({ operation, status }) => status < 300 && !operation.mayHaveNoEntry).length
    const most = own.reduce((sum, { operation }) => sum + (operation.mostEntries ?? 1), 0)
    const found = entries.filter((entry) => entry === name).length
    expect(found, `entries "${name}" after\n${story()}`).toBeOneOf(
      Array.from({ length: most - least + 1 }, (_, more) => least + more),
    )
  }
}

const anyFate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('answered') },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('lost', 'refused', 'slow', 'stopped') },
)
const anyFates = fc.array(anyFate, { maxLength: 40 })
const runsOf = ({ operation, rival }: Subject, fates: fc.Arbitrary<Fate[]>) =>
  fc.record({
    before: fc.array(operation, { maxLength: 3 }),
    callers: fc
      .array(fc.array(operation, { minLength: 1, maxLength: 2 }), { minLength: rival ? 1 : 2, maxLength: 3 })
      .map((callers) => (rival ? [[() => rival], ...callers] : callers)),
    scheduler: fc.scheduler({ act: (step) => step().then(turns.settle) }),
    fates,
  })

/** Whole requests run before some calls of another request. */
const delays = fc.array(
  fc.oneof({ weight: 12, arbitrary: anyFate }, { weight: 1, arbitrary: fc.constant<Fate>('late') }),
  {
    maxLength: 100,
  },
)

/** Leases end while uploads are placed. */
const stalls = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.constant<Fate>('answered') },
    { weight: 1, arbitrary: fc.constantFrom<Fate>('stopped', 'stopped', 'slow', 'lost') },
  ),
  { minLength: 400, maxLength: 400 },
)

interface Subject {
  readonly operation: fc.Arbitrary<() => Operation>
  /** An operation that runs once beside the other operations. */
  readonly rival?: Operation
  readonly first: readonly Operation[]
  readonly initial?: Readonly<Record<string, string>>
  readonly last: readonly Operation[]
  readonly hasSmallPages?: boolean
  readonly hasQuota?: boolean
  readonly late?: RegExp
  readonly fates?: fc.Arbitrary<Fate[]>
  /** The part of all interleavings. Kinds with fewer calls are tried more often. */
  readonly share: number
  /** Milliseconds before the callers begin. */
  readonly pause?: number
  /** Milliseconds before each operation. */
  readonly gap?: number
}

const oneFile = [put('a/x', 'first')]
const subjects = {
  files: { operation: anyFileOperation, first: oneFile, last: ['a/x', 'a/y', 'b/x', 'x'].map(read), share: 0.1 },
  'a folder': {
    operation: anyFolderOperation,
    first: oneFile,
    last: ['a/x', 'a/y', 'b/x'].map(read),
    hasQuota: true,
    share: 0.1,
  },
  'a restored folder': {
    operation: anyRestoredOperation,
    first: [put('a/x', 'first'), put('a/f/y', 'second'), remove('a')],
    last: ['a/x', 'a/f/y', 'b/x', 'b/f/y'].map(read),
    hasQuota: true,
    // Fewer removals in the same second (H-23).
    gap: 4_000,
    fates: delays,
    share: 0.07,
  },
  'a purged file': {
    operation: anyPurgedOperation,
    first: oneFile,
    last: [read('a/x')],
    share: 0.08,
    // A version must be a minute old before a purge (H-35).
    pause: 120_000,
  },
  'a large folder': {
    operation: anyLargeFolderOperation,
    rival: remove('a'),
    // More files than a request removes without a lock.
    first: ['first', 'second', 'third'].map((name) => storeBoth('a', name)),
    last: [list('a')],
    hasSmallPages: true,
    // The second file of a form. The removal can end before this file is stored.
    late: /^PUT .*%20z /,
    share: 0.07,
  },
  'a name': { operation: anyNameOperation, first: [], last: ['a', 'a/x'].map(read), share: 0.05 },
  uploads: { operation: anyUploadOperation, first: [], last: [read('a/x')], share: 0.05 },
  'a stalled upload': {
    operation: anyUploadOperation,
    rival: upload('a/x', 'stalled'),
    first: [],
    last: [read('a/x')],
    // The calls that place an uploaded file.
    late: /^PUT .*live.*a\/x /,
    fates: stalls,
    share: 0.02,
  },
  'a page': { operation: anyPageOperation, first: [], last: readPages, hasQuota: true, share: 0.08 },
  people: { operation: anyPeopleOperation, initial: firstPeople, first: [], last: [listPeople], share: 0.1 },
  content: { operation: anyContentOperation, initial: firstContent, first: [], last: readContent, share: 0.1 },
  sessions: {
    operation: anySessionOperation,
    initial: people,
    first: beginSession,
    last: useAll,
    // A process forgets every caller before the next operation begins.
    gap: 21_000,
    fates: delays,
    share: 0.04,
  },
  'fields and links': { operation: anyTableOperation, first: [], last: [listFields, listLinks], share: 0.14 },
} satisfies Readonly<Record<string, Subject>>
type Name = keyof typeof subjects
const subjectOf = (name: Name): Subject => subjects[name]

const interleave = (openSite: () => Promise<ScheduledSite>, subject: Subject) =>
  fc.asyncProperty(runsOf(subject, subject.fates ?? anyFates), async ({ before, callers, scheduler, fates }) => {
    const site = await openSite()
    const watch = createWatch(site)
    const runAll = async (operations: Iterable<Operation>, caller: string) => {
      let count = 0
      for (const one of operations) {
        time.now += subject.gap ?? 0
        await turns.as(`${caller}.${count++}`, () => watch.run(one))
      }
    }
    await runAll([...subject.first, ...before.map((make) => make())], 'before')
    time.now += subject.pause ?? 0
    await turns.during({ scheduler, fates: fates.values(), late: subject.late }, () =>
      Promise.all(
        callers.map((makers, index) => {
          const operations = makers.map((make) => make())
          return runAll(operations, String(index + 1))
        }),
      ),
    )
    await site.finishRemovals()
    await runAll(subject.last, 'after')
    expect(isLinearizable(watch.observed, new Map(Object.entries(subject.initial ?? {})), write), watch.story()).toBe(
      true,
    )
    await expectEntries(site, watch)
    if (!subject.hasQuota) return
    const { counted, stored } = await site.usage()
    expect(counted, `the counted bytes after\n${watch.story()}`).toBeGreaterThanOrEqual(stored)
  })

test.each(Object.keys(subjects) as Name[])(
  'concurrent changes of %s have the result of some order',
  { timeout: patience },
  async (name) => {
    await fc.assert(interleave(createSites(subjectOf(name)), subjectOf(name)), {
      numRuns: Math.ceil(count * subjectOf(name).share),
      seed: Number(PROVE_SEED),
      ...(PROVE_PATH && { path: PROVE_PATH.replace(/:.*/, '') }),
      includeErrorInReport: true,
    })
  },
)

/** Moves of the folder make an upload fail after it has placed its file. Leases end while it removes this file again. */
const undone = {
  operation: anyMove,
  first: [put('a/y', 'first')],
  last: ['a/x', 'b/x'].map(read),
  late: /^DELETE .*versionId/,
}

/** Early interleavings of these seeds show the fault. */
test.each<[Plant, Name, seed: number, Partial<Subject>?]>([
  ['no condition of S3', 'files', 10],
  ['no condition of DynamoDB', 'fields and links', 6],
  ['no condition of DynamoDB', 'sessions', 3],
  ['no lease of uploads', 'uploads', 6],
  ['no take-over of uploads', 'a stalled upload', 18, { last: [readVersions('a/x')] }],
  ['no renewal of leases', 'a stalled upload', 3, undone],
  ['no second check', 'a name', 6],
  ['no second check', 'a large folder', 6],
])('concurrent changes reveal a service with %s: %s', { timeout: patience }, async (plant, name, seed, own) => {
  const subject = { ...subjectOf(name), ...own }
  const check = (options: Options, numRuns: number) =>
    fc.check(interleave(createSites(options), subject), { numRuns, seed, endOnFailure: true })
  const { failed, numRuns } = await check({ ...subject, plant }, 400)
  expect(failed).toBe(true)
  // The same interleavings of the unchanged service.
  expect(await check(subject, numRuns)).toMatchObject({ failed: false })
})
