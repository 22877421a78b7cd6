import { afterAll, describe, expect, test } from 'vitest'
import { type Grant, issueGrant } from '../../../lib/access/grants.ts'
import { storageRoutes } from '../../../lib/contract/routes/storage.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { areas } from '../../../lib/core/rights.ts'
import { type Answer, codeOf, statusAndCode } from '../../support/answer.ts'
import { type Act, type Ask, acts, free, put } from './acts.ts'
import type { storageHands } from './hands.ts'
import type { Requests } from './service.ts'

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

/**
 * Tries each operation on files with tokens and keys of every kind of right. With `plants`, a bug also drops every check
 * of a right, and the table must find this bug in each operation.
 */
export const describeFileRights = ({ name, open }: (typeof storageHands)[number], { plants = false } = {}) =>
  describe(`On ${name}`, async () => {
    let isDropped = false
    const everyRight = (grant: Grant | undefined) =>
      grant && (isDropped ? { ...grant, permissions: everything } : grant)
    const storage = await open({
      closes: afterAll,
      between: ({ grants }) => ({ grants: { ...grants, get: async (...key) => everyRight(await grants.get(...key)) } }),
    })
    const ofOtherSite = { user: 'test', sites: [1002 as SiteId], permissions: ['files'], expires: 4_000_000_000 }
    const { token: elsewhere } = await issueGrant(storage.stores.grants, ofOtherSite)
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

    const statusOf = ({ otherwise = 200, withoutParts = otherwise }: Act) =>
      storage.deps.directParts ? otherwise : withoutParts

    const withOtherEnd = (act: Act, rights: readonly string[]) => [
      ...rights,
      ...(act.hasOtherEnd ? [`files:write:/${free}`] : []),
    ]

    /** Three callers with the same rights: a token, a key with fewer rights than its person, and a key with more. */
    const callersWith = async (act: Act, given: readonly string[]): Promise<readonly [Ask, ...Ask[]]> => {
      const rights = withOtherEnd(act, given)
      const token = askOver(await storage.as(...rights))
      if (act.isOfUser) return [token]
      const keys = [storage.asKey(rights, everything), storage.asKey(everything, rights)]
      return [token, ...(await Promise.all(keys)).map(askOver)]
    }

    /** All objects and the last history entry, to see that nothing has changed. */
    const state = async () => {
      const objects = (await storage.objects()).map(({ key, version }) => `${key} ${version}`)
      const [last] = await storage.stores.history.before(storage.site, undefined, 1)
      return { objects, last }
    }

    test('the history needs its own right, and shows only files of the caller (A-34, A-47)', async () => {
      const { folder } = await newCell({})
      const listWith = async (...rights: readonly string[]) =>
        askOver(await storage.as(...rights))({ method: 'GET', path: '/changes', query: { subject: folder } })
      const others = everything.filter((right) => right !== 'history:write')
      expect(isRefused(await listWith(...others))).toBe(true)
      expect((await listWith('history:read', 'files:read:/other', `files:read:/${folder}x`)).json.items).toEqual([])
      const entries = [{ type: 'file.stored', subject: `${folder}/secret.txt` }]
      expect((await listWith('history:read', `files:read:/${folder}`)).json.items).toMatchObject(entries)
      if (!plants) return
      isDropped = true
      try {
        for (const rights of [others, ['history:read']])
          expect((await listWith(...rights)).json.items).toMatchObject(entries)
      } finally {
        isDropped = false
      }
    })

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

      if (plants)
        test('a dropped check lets the same callers in, so the table finds it', async () => {
          const { folder, target, prepared } = await newCell(act)
          for (const rights of refusedRights(act, folder, target)) {
            const [ask] = await callersWith(act, rights)
            isDropped = true
            const answer = await ask(act.question(encoded(target), target, prepared)).finally(() => {
              isDropped = false
            })
            expect({ rights, answer, refused: isRefused(answer) }).toMatchObject({ refused: false })
          }
        })

      test('a caller without a valid token for the site is refused (A-10, A-17)', async () => {
        const { target, prepared } = await newCell(act)
        const { method, path, headers, ...request } = act.question(encoded(target), target, prepared)
        const askWith = (Authorization: string) =>
          storage.callSite(method, path, { ...request, headers: { ...headers, Authorization } })
        for (const token of ['', 'f'.repeat(64)]) expect(statusAndCode(await askWith(token))).toEqual([401, 101000])
        expect(statusAndCode(await askWith(elsewhere))).toEqual([400, 104023])
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
            status: Math.floor(statusOf(act) / 100),
          })
          expect(isRefused(answer)).toBe(false)
        }
      })
    })
  })
