import { afterAll, describe, expect, test } from 'vitest'
import { issueGrant } from '../../lib/access/grants.ts'
import { routes } from '../../lib/contract/routes/routes.ts'
import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { type Area, areas } from '../../lib/core/rights.ts'
import type { Route } from '../../lib/http/router.ts'
import { type Answer, codeOf, statusAndCode } from '../support/answer.ts'
import { type Act, type Ask, acts, free, put } from './storage/acts.ts'
import { openStorage, type Requests } from './storage/service.ts'

// Tries each operation on files with tokens and keys of every kind of right. No store knows rights, so one store is
// enough. access/least-privilege.test.ts has the other operations.

/** The area that the path of an operation belongs to. */
const areaIn = ({ path }: Route): Area => {
  if (path.endsWith('/changes')) return 'history'
  if (/\/(?:users|keys|webhooks)\b/.test(path)) return 'access'
  if (/\/(?:storage|uploads)\b/.test(path)) return 'files'
  return path.includes('/v1/') ? 'forms' : 'categories'
}

const guarded = (routes as readonly Route[]).filter(({ path }) => path.includes('{site}'))

test('a read needs a right of the area, and a change needs a right to write (A-34)', () => {
  // HEAD of an upload may complete the upload. GET of an upload answers addresses at which its bytes can be stored.
  const isChange = ({ method, path }: Route) =>
    /\/(?:\{upload\}|keys)$|\/webhooks\b/.test(path) || (method !== 'GET' && !path.endsWith('/changes'))
  const needed = guarded.map(({ operation, right }) => [operation, right])
  expect(needed).toEqual(
    guarded.map((route) => [route.operation, `${areaIn(route)}:${isChange(route) ? 'write' : 'read'}`]),
  )
})

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

const storage = await openStorage({ closes: afterAll })
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
        status: Math.floor((act.otherwise ?? 200) / 100),
      })
      expect(isRefused(answer)).toBe(false)
    }
  })
})
