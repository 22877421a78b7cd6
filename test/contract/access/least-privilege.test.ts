import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createAccessHandler } from '../../../functions/access/group.ts'
import { createWebhooksHandler } from '../../../functions/webhooks/group.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { newKey } from '../../../lib/access/keys.ts'
import type { Person } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { areas } from '../../../lib/core/rights.ts'
import { createAccessDeps, createWebhooksDeps } from '../../../lib/service/deps.ts'
import { createWebhook } from '../../../lib/webhooks/change-webhook.ts'
import { createTarget } from '../../../lib/webhooks/target.ts'
import { statusAndCode } from '../../support/answer.ts'
import { send } from '../../support/gateway.ts'
import { hands, type OpenedHand } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'
import { testPerson } from '../../support/people.ts'

// Every operation on people and keys against rights that are not enough, of tokens and keys, on both stores.
// authorisation-matrix.test.ts has the rights of whole areas, for all groups.

/**
 * Planted bugs, which the table must notice: the functions that compare rights let every caller pass, or a key has a
 * right that only the key has, or that only its person has.
 */
const hole = vi.hoisted((): { isOpen: boolean; rightsOfKey?: 'own' | 'of the person' } => ({ isOpen: false }))
vi.mock('../../../lib/core/rights.ts', async (load) => {
  const real = await load<typeof import('../../../lib/core/rights.ts')>()
  return {
    ...real,
    includesRight: (...given: Parameters<typeof real.includesRight>) => hole.isOpen || real.includesRight(...given),
    requireRight: (...given: Parameters<typeof real.requireRight>) => hole.isOpen || real.requireRight(...given),
    requireInAnyFolder: (...given: Parameters<typeof real.requireInAnyFolder>) =>
      hole.isOpen || real.requireInAnyFolder(...given),
    commonRights: (...[own, ofPerson]: Parameters<typeof real.commonRights>) => {
      if (!hole.rightsOfKey) return real.commonRights(own, ofPerson)
      return hole.rightsOfKey === 'own' ? own : ofPerson
    },
  }
})

const everything = areas.map((area) => `${area}:write`)

const surroundings = { telemetry: { request: () => {} } }
// Nothing reads the secrets of these webhooks.
const seals = { seal: async () => 'sealed', open: async () => '' }

const site = 1001 as SiteId
const other = 1002 as SiteId

interface Row {
  readonly method: string
  /** Default: `people`. */
  readonly on?: 'people' | 'a person' | 'keys' | 'a key' | 'webhooks' | 'a webhook' | 'a test' | 'deliveries'
  readonly body?: object
  /** The smallest set of rights that suffices. */
  readonly needs: readonly string[]
  /** The person has rights on another site, which the caller must have as well. */
  readonly onEverySite?: true
  /** A token of a command belongs to nobody, so it is refused. */
  readonly needsPerson?: true
}

// The service refuses to connect to this address.
const targetUrl = 'https://127.0.0.1/'
const ofWebhook = ['access:write', 'history:read', 'files:read']
const ofTarget = ['files:write:/a', 'history:read', 'access:write']

const rows: Readonly<Record<string, Row>> = {
  'a list': { method: 'GET', needs: ['access:read'] },
  'a look': { method: 'GET', on: 'a person', needs: ['access:read'] },
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
    on: 'a person',
    body: { rights: ['files:write:/A'] },
    needs: ['access:write', 'files:write:/A'],
  },
  'the end of all rights': { method: 'PUT', on: 'a person', body: { rights: [] }, needs: ['access:write'] },
  disabling: { method: 'PUT', on: 'a person', body: { disabled: true }, needs: ofTarget, onEverySite: true },
  'a new invitation': { method: 'PUT', on: 'a person', body: { invite: true }, needs: ofTarget, onEverySite: true },
  'another e-mail address': {
    method: 'PUT',
    on: 'a person',
    body: { email: 'x@y.z' },
    needs: ofTarget,
    onEverySite: true,
  },
  'the keys': { method: 'GET', on: 'keys', needs: ['access:write'] },
  'a new key': {
    method: 'POST',
    on: 'keys',
    body: { name: 'New', rights: ['files:write:/a', 'history:read'] },
    needs: ['access:write', 'files:write:/a', 'history:read'],
    needsPerson: true,
  },
  'a new key for people': {
    method: 'POST',
    on: 'keys',
    body: { name: 'New', rights: ['access:write'] },
    needs: ['access:write'],
    needsPerson: true,
  },
  'the end of a key': { method: 'DELETE', on: 'a key', needs: ['access:write'] },
  'the webhooks': { method: 'GET', on: 'webhooks', needs: ['access:write'] },
  'a new webhook for links': {
    method: 'POST',
    on: 'webhooks',
    body: { targetUrl, types: ['link.*'] },
    needs: ['access:write', 'history:read', 'categories:read'],
  },
  'a webhook': { method: 'GET', on: 'a webhook', needs: ['access:write'] },
  'another note on a webhook': { method: 'PUT', on: 'a webhook', body: { description: 'X' }, needs: ofWebhook },
  'a test of a webhook': { method: 'POST', on: 'a test', needs: ['access:write'] },
  'the deliveries of a webhook': { method: 'GET', on: 'deliveries', needs: ['access:write'] },
  'the end of a webhook': { method: 'DELETE', on: 'a webhook', needs: ['access:write'] },
  'another display name': {
    method: 'PUT',
    on: 'a person',
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
  let key = ''
  let webhook = ''
  const pathOf = {
    people: () => 'users',
    'a person': () => `users/${target}`,
    keys: () => 'keys',
    'a key': () => `keys/${key}`,
    webhooks: () => 'webhooks',
    'a webhook': () => `webhooks/${webhook}`,
    'a test': () => `webhooks/${webhook}/test`,
    deliveries: () => `webhooks/${webhook}/deliveries`,
  }

  beforeAll(async () => {
    hand = await open()
    const { stores } = hand
    await stores.sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
    for (const id of [site, other]) {
      await stores.sites.createSite({ id, name: `Site ${id}`, dataCentre: 'us', renderingEngine: true }, entry)
    }
    const deps = createAccessDeps({ dataCentre: 'us' }, stores, surroundings)
    const target = createTarget({ permitsPrivate: false })
    const ofWebhooks = createWebhooksDeps({ dataCentre: 'us' }, { ...stores, seals }, { ...surroundings, target })
    const [access, webhooks] = [createAccessHandler(deps), createWebhooksHandler(ofWebhooks)]
    ask = ({ method, on = 'people', body }, token) => {
      const path = pathOf[on]()
      const isAboutWebhooks = path.startsWith('webhooks')
      const base = isAboutWebhooks ? '/webresources/api/v3/sites' : '/api/v2/admin/sites'
      return send(isAboutWebhooks ? webhooks : access, method, `${base}/${site}/${path}`, {
        headers: { Authorization: token },
        ...(body && { body: on === 'people' ? { name: `new.${count}`, ...body } : body }),
      })
    }
  })
  afterAll(() => hand.close())

  const tokenWith = async (permissions: readonly string[], sites: readonly SiteId[] = [site]): Promise<string> => {
    const token = newToken()
    const grant = { hash: hashToken(token), user: 'boss', sites, permissions, expires: 4_000_000_000 }
    await hand.stores.grants.put(grant, [])
    return token
  }

  const persons = new Map<string, Promise<Person>>()
  const personWith = (rights: readonly string[]): Promise<Person> => {
    const add = async () => {
      const person = testPerson({ name: `p.${persons.size}`, sites: { [site]: { rights } } as Person['sites'] })
      await hand.stores.people.create(person, [])
      return person
    }
    const text = rights.join()
    const found = persons.get(text) ?? add()
    persons.set(text, found)
    return found
  }

  const keyWith = async (permissions: readonly string[], rights: readonly string[]): Promise<string> => {
    const text = newKey()
    const { name: user, created: since } = await personWith(rights)
    const owned = { kind: 'key', user, since, name: 'Test' } as const
    await hand.stores.grants.put(
      { ...owned, hash: hashToken(text), sites: [site], permissions, expires: 4_000_000_000 },
      [],
    )
    return text
  }

  /** A key with fewer rights than its person, and one with more: both have these rights. */
  const keysWith = (rights: readonly string[]) =>
    Promise.all([keyWith(rights, everything), keyWith(everything, rights)])

  const newTarget = async ({ onEverySite }: Row): Promise<void> => {
    count += 1
    target = `ann.${count}`
    key = hashToken(await keyWith([], []))
    await hand.stores.webhooks.clear(site)
    const created = await createWebhook({ ...hand.stores, seals }, site, { targetUrl, types: ['file.*'] }, entry)
    webhook = created?.webhook.id ?? ''
    const own = { rights: ['files:write:/a', 'history:read'] }
    const elsewhere = onEverySite && { [other]: { rights: ['history:read'] } }
    await hand.stores.people.create(
      testPerson({ name: target, sites: { [site]: own, ...elsewhere } as Person['sites'] }),
      [],
    )
  }

  const state = async () => ({
    people: await hand.stores.people.listOfSite(site),
    keys: new Set((await hand.stores.grants.keysOf(site)).map(({ hash, permissions }) => `${hash} ${permissions}`)),
    last: (await hand.stores.history.before(site, undefined, 1))[0],
  })

  /** For each needed right: all needed rights without this one. */
  const lacking = ({ needs }: Row): readonly (readonly string[])[] => [
    ...needs.map((one) => needs.filter((right) => right !== one)),
    ...(needs.includes('access:write') ? [needs.map((one) => one.replace('access:write', 'access:read'))] : []),
    areas.filter((area) => area !== 'access').map((area) => `${area}:write`),
  ]

  /** Tokens and keys that lack something: a right, the other site, or a person. */
  const refusedCallers = async (row: Row): Promise<readonly string[]> => {
    const callers: string[] = []
    for (const [index, rights] of lacking(row).entries()) {
      const key = index % 2 === 0 ? keyWith(rights, everything) : keyWith(everything, rights)
      callers.push(await tokenWith(['x:y', ...rights], [site, other]), await key)
    }
    if (row.onEverySite) callers.push(await tokenWith(row.needs), ...(await keysWith(row.needs)))
    if (row.needsPerson) callers.push(await tokenWith(everything))
    return callers
  }

  /** Callers without the rights of the row, each with the bug that lets them pass. */
  const callersOfBugs = async ({ onEverySite, needsPerson }: Row) => {
    const [weakKey = '', keyOfWeak = ''] = await keysWith(['history:read'])
    const ofKeys = [
      [{ isOpen: false, rightsOfKey: 'of the person' }, weakKey],
      [{ isOpen: false, rightsOfKey: 'own' }, keyOfWeak],
    ] as const
    const ofToken = [[{ isOpen: true }, await tokenWith(['history:read'])]] as const
    return [...(needsPerson ? [] : ofToken), ...(onEverySite ? [] : ofKeys)]
  }

  describe.each(Object.entries(rows))('%s', (_, row) => {
    test('a caller who lacks one of the rights changes nothing (A-34, A-57, A-59, A-89)', async () => {
      await newTarget(row)
      const callers = await refusedCallers(row)
      const before = await state()
      for (const token of callers) {
        const answer = await ask(row, token)
        expect(statusAndCode(answer)).toEqual([403, 100403])
        expect([answer.text.includes(target), answer.text.includes(key)]).toEqual([false, false])
      }
      expect(await state()).toEqual(before)
    })

    test('each planted bug of the check lets a wrong caller in, so this table finds it', async () => {
      for (const [bug, token] of await callersOfBugs(row)) {
        await newTarget(row)
        Object.assign(hole, bug)
        const { status } = await ask(row, token).finally(() => {
          Object.assign(hole, { isOpen: false, rightsOfKey: undefined })
        })
        expect(Math.floor(status / 100)).toBe(2)
      }
    })

    test('a caller with only these rights succeeds (A-33, A-56, A-87, A-89, V-1)', async () => {
      const token = row.needsPerson ? [] : [await tokenWith(row.needs, [site, other])]
      const keys = row.onEverySite ? [] : await keysWith(row.needs)
      for (const caller of [...token, ...keys]) {
        await newTarget(row)
        const answer = await ask(row, caller)
        expect(Math.floor(answer.status / 100)).toBe(2)
      }
    })
  })

  test('a removal without all rights removes only the entry of this site (A-51, A-60)', async () => {
    const row: Row = { method: 'DELETE', on: 'a person', needs: ofTarget, onEverySite: true }
    for (const [rights, sites] of [
      [['access:write'], [site, other]],
      [ofTarget, [site]],
    ] as const) {
      await newTarget(row)
      expect((await ask(row, await tokenWith(rights, sites))).status).toBe(200)
      expect(Object.keys((await hand.stores.people.get(target))?.sites ?? {})).toEqual([String(other)])
    }
    for (const key of await keysWith(ofTarget)) {
      await newTarget(row)
      expect((await ask(row, key)).status).toBe(200)
      expect(await hand.stores.people.get(target)).toBeDefined()
    }
    await newTarget(row)
    expect((await ask(row, await tokenWith(ofTarget, [site, other]))).status).toBe(200)
    expect(await hand.stores.people.get(target)).toBeUndefined()
    await newTarget(row)
    expect(statusAndCode(await ask(row, await tokenWith(['access:read'])))).toEqual([403, 100403])
    expect(await hand.stores.people.get(target)).toBeDefined()
  })
})
