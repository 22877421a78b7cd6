import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { areas } from '../../lib/core/rights.ts'
import { listAll } from '../../lib/storage/object-store.ts'
import { type Answer, codeOf } from '../support/answer.ts'
import { type Act, type Ask, acts, free, put } from './storage/acts.ts'
import { openStorage, type Requests, type StorageUnderTest } from './storage/service.ts'

// Every operation on files with every kind of right, of tokens and keys. No store knows rights, so one store is enough.
// access/least-privilege.test.ts has the other operations.

const everything = areas.map((area) => `${area}:write`)

/** Rights that do not cover the target, each for a different reason. */
const refusedRights = (act: Act, folder: string, target: string): readonly (readonly string[])[] => [
  areas.filter((area) => area !== 'files').map((area) => `${area}:write`),
  ...(act.level === 'write' ? [['files:read'], [`files:read:/${folder}`]] : []),
  ...(act.needsNoPath ? [] : [[`files:write:/${folder.slice(0, -1)}`], [`files:write:/${folder}x`]]),
  ...(act.needsNoPath ? [] : [[`files:write:/${folder.toUpperCase()}`], ['files:write:/other']]),
  ...(act.needsNoPath || act.showsWay ? [] : [[`files:write:/${target}/below`]]),
  ...(act.changesFolderAround ? [[`files:write:/${target}`]] : []),
  ...(act.isOnRoot ? [[`files:write:/${folder}`]] : []),
]

const allowedRights = ({ level, ...act }: Act, folder: string, target: string): readonly (readonly string[])[] => [
  [`files:${level}`],
  ...(act.isOnRoot ? [] : [[`files:${level}:/${folder.normalize('NFD')}/`]]),
  ...(act.isOnRoot || act.changesFolderAround ? [] : [[`files:${level}:/${target}`]]),
]

const isRefused = (answer: Answer): boolean => answer.status === 400 && codeOf(answer) === 104003

const encoded = (path: string) => `/${path.split('/').map(encodeURIComponent).join('/')}`
const inHex = (path: string) => `/${Buffer.from(path).toString('hex').replace(/../g, '%$&')}`

/** The spellings in which a client may send this path. */
const spellings = (target: string): readonly string[] => [
  encoded(target),
  encoded(target.normalize('NFD')),
  inHex(target),
  `//${encoded(target).replaceAll('/', '//')}/`,
]

const rows = storageRoutes.flatMap(({ operation }) =>
  Object.entries(acts[operation]).map(([how, act]) => ({ name: `${operation} ${how}`, act })),
)

describe('Operations on files', () => {
  let storage: StorageUnderTest
  beforeAll(async () => {
    storage = await openStorage()
  })
  afterAll(() => storage.close())
  let count = 0

  const askOver =
    ({ callSite }: Requests): Ask =>
    ({ method, path, ...request }) =>
      callSite(method, path, request)

  const newCell = async ({ prepare, target = 'secret.txt' }: Pick<Act, 'prepare' | 'target'>) => {
    count += 1
    const cell = { ask: askOver(storage), folder: `caf\u00e9-${count}-end` }
    await cell.ask(put(`/${cell.folder}/secret.txt`))
    const prepared = (await prepare?.(cell)) as never
    return { ...cell, prepared, target: target === '' ? cell.folder : `${cell.folder}/${target}` }
  }

  const withOtherEnd = (act: Act, rights: readonly string[]) => [
    ...rights,
    ...(act.hasOtherEnd ? [`files:write:/${free}`] : []),
  ]

  /** Callers with the same rights: a token, a key with fewer rights than its person, and one with more. */
  const callersWith = async (act: Act, given: readonly string[]): Promise<readonly [Ask, ...Ask[]]> => {
    const rights = withOtherEnd(act, given)
    const token = askOver(await storage.as(...rights))
    if (act.isOfUser) return [token]
    const keys = [storage.asKey(rights, everything), storage.asKey(everything, rights)]
    return [token, ...(await Promise.all(keys)).map(askOver)]
  }

  /** All objects and the last history entry, to see that nothing has changed. */
  const state = async () => {
    const objects: string[] = []
    for (const edition of ['live/', 'draft/']) {
      for await (const some of listAll(storage.deps.files, edition)) {
        objects.push(...some.map(({ key, version }) => `${key} ${version}`))
      }
    }
    const [last] = await storage.stores.history.before(storage.site, undefined, 1)
    return { objects, last }
  }

  describe.each(rows)('$name', ({ act }) => {
    test('a caller without the right changes and sees nothing (A-34, A-35, A-36)', async () => {
      const { folder, target, prepared } = await newCell(act)
      const before = await state()
      for (const rights of refusedRights(act, folder, target)) {
        const callers = await callersWith(act, rights)
        for (const [index, path] of spellings(target).entries()) {
          const ask = callers[index % callers.length] ?? callers[0]
          const answer = await ask(act.question(path, target, prepared))
          const { etag, location } = answer.headers
          expect({ rights, path, answer, refused: isRefused(answer) }).toMatchObject({ refused: true })
          expect(answer.json.message).toContain(`files:${act.level}`)
          expect([etag, location, answer.text.includes('top secret')]).toEqual([undefined, undefined, false])
        }
      }
      expect(await state()).toEqual(before)
    })

    test('a right on all files, on the folder or on the path is enough (A-33, A-37, A-41)', async () => {
      const counted = allowedRights(act, '', '').length
      for (let index = 0; index < counted; index++) {
        const { folder, target, prepared } = await newCell(act)
        const rights = allowedRights(act, folder, target)[index] ?? []
        const callers = await callersWith(act, rights)
        const ask = callers[index % callers.length] ?? callers[0]
        const answer = await ask(act.question(encoded(target), target, prepared))
        expect({ rights, answer, status: Math.floor(answer.status / 100) }).toMatchObject({
          status: Math.floor((act.otherwise ?? 200) / 100),
        })
        expect(isRefused(answer)).toBe(false)
      }
    })
  })
})
