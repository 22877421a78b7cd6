import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createAccessHandler } from '../../../functions/access/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import type { Person } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { areas } from '../../../lib/core/rights.ts'
import { createAccessDeps } from '../../../lib/service/deps.ts'
import { statusAndCode } from '../../support/answer.ts'
import { send } from '../../support/gateway.ts'
import { hands, type OpenedHand } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'
import { testPerson } from '../../support/people.ts'

// Every operation on people against rights that are not enough, on both stores. authorisation-matrix.test.ts has the
// rights of whole areas, for all groups.

/** Planted into the functions that compare rights: the table must notice that they let everybody pass. */
const hole = vi.hoisted(() => ({ isOpen: false }))
vi.mock('../../../lib/core/rights.ts', async (load) => {
  const real = await load<typeof import('../../../lib/core/rights.ts')>()
  return {
    ...real,
    includesRight: (...given: Parameters<typeof real.includesRight>) => hole.isOpen || real.includesRight(...given),
    requireRight: (...given: Parameters<typeof real.requireRight>) => hole.isOpen || real.requireRight(...given),
    requireSomewhere: (...given: Parameters<typeof real.requireSomewhere>) =>
      hole.isOpen || real.requireSomewhere(...given),
  }
})

const site = 1001 as SiteId
const other = 1002 as SiteId

interface Row {
  readonly method: string
  readonly ofPerson?: true
  readonly body?: object
  /** The smallest set of rights that suffices. */
  readonly needs: readonly string[]
  /** The person has rights on another site, which the caller must have as well. */
  readonly onEverySite?: true
}

const ofTarget = ['files:write:/a', 'history:read', 'access:write']

const rows: Readonly<Record<string, Row>> = {
  'a list': { method: 'GET', needs: ['access:read'] },
  'a look': { method: 'GET', ofPerson: true, needs: ['access:read'] },
  'a person without rights': { method: 'POST', body: { rights: [] }, needs: ['access:write'] },
  'an editor': {
    method: 'POST',
    body: { role: 'editor' },
    needs: ['access:write', 'files:write', 'forms:write', 'categories:write', 'history:read'],
  },
  'an author': {
    method: 'POST',
    body: { role: 'author', folders: ['/a/b'] },
    needs: ['access:write', 'files:write:/a', 'history:read'],
  },
  'another right': {
    method: 'PUT',
    ofPerson: true,
    body: { rights: ['files:write:/A'] },
    needs: ['access:write', 'files:write:/A'],
  },
  'the end of all rights': { method: 'PUT', ofPerson: true, body: { rights: [] }, needs: ['access:write'] },
  disabling: { method: 'PUT', ofPerson: true, body: { disabled: true }, needs: ofTarget, onEverySite: true },
  'a new invitation': { method: 'PUT', ofPerson: true, body: { invite: true }, needs: ofTarget, onEverySite: true },
  'another e-mail address': {
    method: 'PUT',
    ofPerson: true,
    body: { email: 'x@y.z' },
    needs: ofTarget,
    onEverySite: true,
  },
  'another display name': {
    method: 'PUT',
    ofPerson: true,
    body: { displayName: 'X' },
    needs: ofTarget,
    onEverySite: true,
  },
}

describe.each(hands)('On $name', ({ open }) => {
  let hand: OpenedHand
  let ask: (row: Row, token: string) => ReturnType<typeof send>
  let count = 0
  let target = ''

  beforeAll(async () => {
    hand = await open()
    const { stores } = hand
    await stores.sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
    for (const id of [site, other]) {
      await stores.sites.createSite({ id, name: `Site ${id}`, dataCentre: 'us', renderingEngine: true }, entry)
    }
    const deps = createAccessDeps({ dataCentre: 'us' }, stores, { telemetry: { request: () => {} } })
    const handler = createAccessHandler(deps)
    ask = ({ method, ofPerson, body }, token) =>
      send(handler, method, `/api/v2/admin/sites/${site}/users${ofPerson ? `/${target}` : ''}`, {
        headers: { Authorization: token },
        ...(body && { body: ofPerson ? body : { name: `new.${count}`, ...body } }),
      })
  })
  afterAll(() => hand.close())

  const tokenWith = async (permissions: readonly string[], sites: readonly SiteId[] = [site]): Promise<string> => {
    const token = newToken()
    const grant = { hash: hashToken(token), user: 'boss', sites, permissions, expires: 4_000_000_000 }
    await hand.stores.grants.put(grant, [])
    return token
  }

  const newTarget = async ({ onEverySite }: Row): Promise<void> => {
    count += 1
    target = `ann.${count}`
    const own = { rights: ['files:write:/a', 'history:read'] }
    const elsewhere = onEverySite && { [other]: { rights: ['history:read'] } }
    await hand.stores.people.create(
      testPerson({ name: target, sites: { [site]: own, ...elsewhere } as Person['sites'] }),
      [],
    )
  }

  const state = async () => ({
    people: await hand.stores.people.listOfSite(site),
    last: (await hand.stores.history.before(site, undefined, 1))[0],
  })

  /** Sets of rights that lack one needed right each. */
  const lacking = ({ needs }: Row): readonly (readonly string[])[] => [
    ...needs.map((one) => needs.filter((right) => right !== one)),
    ...(needs.includes('access:write') ? [needs.map((one) => one.replace('access:write', 'access:read'))] : []),
    areas.filter((area) => area !== 'access').map((area) => `${area}:write`),
  ]

  describe.each(Object.entries(rows))('%s', (_, row) => {
    test('is refused if any of its rights is missing, and changes nothing (A-34, A-57, A-59)', async () => {
      await newTarget(row)
      const before = await state()
      const callers = lacking(row).map((rights) => tokenWith(['x:y', ...rights], [site, other]))
      const onlyHere = row.onEverySite ? [tokenWith(row.needs)] : []
      for (const token of await Promise.all([...callers, ...onlyHere])) {
        const answer = await ask(row, token)
        expect(statusAndCode(answer)).toEqual([403, 100403])
        expect(answer.text).not.toContain(target)
      }
      expect(await state()).toEqual(before)

      // Without the check of rights, the same request succeeds.
      hole.isOpen = true
      const passed = await ask(row, await tokenWith(['history:read'])).finally(() => {
        hole.isOpen = false
      })
      expect(Math.floor(passed.status / 100)).toBe(2)
    })

    test('works with only these rights (A-33, A-56)', async () => {
      await newTarget(row)
      const answer = await ask(row, await tokenWith(row.needs, [site, other]))
      expect(Math.floor(answer.status / 100)).toBe(2)
    })
  })

  test('a removal without all rights removes only the entry of this site (A-51, A-60)', async () => {
    const row: Row = { method: 'DELETE', ofPerson: true, needs: ofTarget, onEverySite: true }
    for (const [rights, sites] of [
      [['access:write'], [site, other]],
      [ofTarget, [site]],
    ] as const) {
      await newTarget(row)
      expect((await ask(row, await tokenWith(rights, sites))).status).toBe(200)
      expect(Object.keys((await hand.stores.people.get(target))?.sites ?? {})).toEqual([String(other)])
    }
    await newTarget(row)
    expect((await ask(row, await tokenWith(ofTarget, [site, other]))).status).toBe(200)
    expect(await hand.stores.people.get(target)).toBeUndefined()
    await newTarget(row)
    expect(statusAndCode(await ask(row, await tokenWith(['access:read'])))).toEqual([403, 100403])
    expect(await hand.stores.people.get(target)).toBeDefined()
  })
})
