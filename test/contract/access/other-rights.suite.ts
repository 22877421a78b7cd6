import { afterAll, describe, expect, test } from 'vitest'
import { type Grant, hashToken, issueGrant } from '../../../lib/access/grants.ts'
import { newKey } from '../../../lib/access/keys.ts'
import type { Person } from '../../../lib/access/people.ts'
import { objectKindNames, withDefaults } from '../../../lib/core/content-kinds.ts'
import { errors } from '../../../lib/core/errors.ts'
import type { CategoryId, SiteId, WebFormId } from '../../../lib/core/ids.ts'
import type { Handler } from '../../../lib/http/request.ts'
import { groupPolicies } from '../../../lib/http/router.ts'
import { createTarget } from '../../../lib/webhooks/target.ts'
import { createWebhook } from '../../../lib/webhooks/webhooks.ts'
import { statusAndCode } from '../../support/answer.ts'
import { send } from '../../support/gateway.ts'
import { openHandler } from '../../support/handlers.ts'
import type { Hand } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'
import { testPerson } from '../../support/people.ts'
import { everything, type Row, removal, rightsOfTarget, rows, targetUrl } from './guarded-operations.ts'

const settings = { dataCentre: 'us', longestList: 20_000 }
const surroundings = { telemetry: { request: () => {} } }
// Nothing reads the secrets of these webhooks.
const seals = { seal: async () => 'sealed', open: async () => '' }

const site = 1001 as SiteId
const other = 1002 as SiteId
const form = 1 as WebFormId
const field = { typeId: -2, mandatory: true, order: 1 }
const category = 5 as CategoryId

/**
 * Tries each operation, except those on files, with tokens and keys that lack a right. With `plants`, a bug also drops
 * every check of a right, and the table must find this bug in each operation.
 */
export const describeOtherRights = ({ name, open }: Hand, { plants = false } = {}) =>
  describe(`On ${name}`, async () => {
    const hand = await open()
    let isDropped = false
    const everyRight = (grant: Grant | undefined) =>
      grant && (isDropped ? { ...grant, permissions: everything } : grant)
    const { grants } = hand.stores
    const stores = {
      ...hand.stores,
      grants: { ...grants, get: async (...key: Parameters<typeof grants.get>) => everyRight(await grants.get(...key)) },
    }
    let count = 0
    let target = ''
    let key = ''
    let webhook = ''
    await stores.sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
    for (const id of [site, other]) {
      await stores.sites.createSite({ id, name: `Site ${id}`, dataCentre: 'us', renderingEngine: true }, entry)
    }
    await stores.webForms.create({ site, id: form, name: 'Contact', fields: [field] }, entry)
    await stores.contents.putMany(site, 'category', [{ id: category, name: 'Five' }], entry)
    for (const kind of objectKindNames) {
      await stores.contents.putMany(site, kind, [withDefaults(kind, { id: 1 }, 0)], entry)
    }
    const handlers: Readonly<Record<Row['group'], Handler>> = {
      access: openHandler.access(settings, stores, surroundings),
      webhooks: openHandler.webhooks(
        settings,
        { ...stores, seals },
        { ...surroundings, target: createTarget({ permitsPrivate: false }) },
      ),
      fields: openHandler.fields(settings, stores, surroundings),
      categories: openHandler.categories(settings, stores, surroundings),
    }
    afterAll(() => hand.close())

    const ask = ({ group, method, path, body }: Row, token: string) => {
      const names = {
        site,
        user: target,
        key,
        webhook,
        delivery: 'dlv_1',
        webForm: form,
        field: -2,
        category,
        object: 1,
      }
      const address = Object.entries(names).reduce(
        (text, [name, value]) => text.replace(`{${name}}`, String(value)),
        path,
      )
      return send(handlers[group], method, address, {
        headers: { Authorization: token },
        ...(body && { body: path.endsWith('/users') ? { name: `new.${count}`, ...body } : body }),
      })
    }

    const tokenWith = async (permissions: readonly string[], sites: readonly SiteId[] = [site]): Promise<string> =>
      (await issueGrant(stores.grants, { user: 'boss', sites, permissions, expires: 4_000_000_000 })).token

    const persons = new Map<string, Promise<Person>>()
    const personWith = (rights: readonly string[]): Promise<Person> => {
      const add = async () => {
        const person = testPerson({ name: `p.${persons.size}`, sites: { [site]: { rights } } as Person['sites'] })
        await stores.people.create(person, [])
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
      await stores.grants.put(
        { ...owned, hash: hashToken(text), sites: [site], permissions, expires: 4_000_000_000 },
        [],
      )
      return text
    }

    /** A key with fewer rights than its person, and a key with more. Both allow exactly the given rights. */
    const keysWith = (rights: readonly string[]) =>
      Promise.all([keyWith(rights, everything), keyWith(everything, rights)])

    const newWebhook = async (): Promise<void> => {
      const { webhooks } = stores
      await webhooks.clear(site)
      const wanted = { targetUrl, types: ['file.*', 'webhook.*'] }
      const created = await createWebhook({ ...stores, seals }, site, wanted, entry)
      webhook = created.id
      const [{ position = 0 } = {}] = await stores.history.before(site, undefined, 1)
      const delivery = { id: 'dlv_1', position, type: 'webhook.created', at: 1, attempt: 1, milliseconds: 1 } as const
      await webhooks.recordOutcome(site, webhook, { delivery, retry: { position, attempt: 2, due: 1 } })
    }

    const newContent = async (): Promise<void> => {
      const { webForms, links } = stores
      await webForms.changeFields(site, form, () => [field], entry)
      for (const kind of objectKindNames) await links.link({ site, kind, category }, new Map([[1, true]]), entry)
    }

    const newPerson = async ({ onEverySite }: Row): Promise<void> => {
      target = `ann.${count}`
      key = hashToken(await keyWith([], []))
      const sites = {
        [site]: { rights: rightsOfTarget },
        ...(onEverySite && { [other]: { rights: ['history:read'] } }),
      }
      await stores.people.create(testPerson({ name: target, sites: sites as Person['sites'] }), [])
    }

    const newTarget = async (row: Row): Promise<void> => {
      count += 1
      if (row.group === 'webhooks') await newWebhook()
      else if (row.group === 'access') await newPerson(row)
      else await newContent()
    }

    const state = async () => ({
      people: await stores.people.listOfSites(site),
      keys: new Set((await stores.grants.keysOf(site)).map(({ hash, permissions }) => `${hash} ${permissions}`)),
      forms: await stores.webForms.get(site, form),
      last: (await stores.history.before(site, undefined, 1))[0],
    })

    /** For each needed right: all the other needed rights. */
    const lacking = ({ needs, right }: Row): readonly (readonly string[])[] => [
      ...needs.map((one) => needs.filter((right) => right !== one)),
      ...(right.endsWith(':write') ? [needs.map((one) => (one === right ? right.replace('write', 'read') : one))] : []),
      everything.filter((one) => one.split(':', 1)[0] !== right.split(':', 1)[0]),
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

    describe.each(rows)('$name', (row) => {
      test('a caller who lacks one of the rights changes nothing (A-34, A-57, A-59, A-89)', async () => {
        await newTarget(row)
        const callers = await refusedCallers(row)
        const before = await state()
        for (const token of callers) {
          const answer = await ask(row, token)
          expect(statusAndCode(answer)).toEqual([403, 100403])
          for (const secret of [target, key, webhook, 'Contact', 'Five'].filter((text) => text !== ''))
            expect(answer.text).not.toContain(secret)
        }
        expect(await state()).toEqual(before)
      })

      if (plants)
        test('a dropped check lets a caller without the rights in, so the table finds it', async () => {
          await newTarget(row)
          const rights = ['history:read']
          const caller = row.needsPerson ? await keyWith(rights, everything) : await tokenWith(rights, [site, other])
          isDropped = true
          const { status, text } = await ask(row, caller).finally(() => {
            isDropped = false
          })
          expect({ text, isDone: status < 300 }).toMatchObject({ isDone: true })
        })

      test('a caller without a valid token for the site is refused (A-10, A-17)', async () => {
        await newTarget(row)
        const revoked = await tokenWith(everything)
        await stores.grants.remove(hashToken(revoked), [])
        for (const token of ['', 'f'.repeat(64), revoked])
          expect(statusAndCode(await ask(row, token))).toEqual([401, errors.tokenRejected.code])
        const { status, code } = errors[groupPolicies[row.group].siteUnknown]
        expect(statusAndCode(await ask(row, await tokenWith(everything, [other])))).toEqual([status, code])
      })

      test('a caller with only these rights succeeds (A-33, A-56, A-87, A-89, V-1)', async () => {
        const token = row.needsPerson ? [] : [await tokenWith(row.needs, [site, other])]
        const keys = row.onEverySite ? [] : await keysWith(row.needs)
        for (const caller of [...token, ...keys]) {
          await newTarget(row)
          const { status, text } = await ask(row, caller)
          expect({ text, isDone: status < 300 }).toMatchObject({ isDone: true })
        }
      })
    })

    /** The sites whose last entry in the history is the removal of the target. */
    const sitesOfRemoval = async (): Promise<readonly SiteId[]> => {
      const changes = await Promise.all([site, other].map((id) => stores.history.before(id, undefined, 1)))
      return changes
        .flat()
        .filter(({ type, subject }) => `${type} ${subject}` === `user.removed user/${target}`)
        .map((change) => change.site)
    }

    test('without every right of a person, a removal ends only this site (A-51, A-60)', async () => {
      const row = removal
      for (const [rights, sites] of [
        [['access:write'], [site, other]],
        [row.needs, [site]],
      ] as const) {
        await newTarget(row)
        expect((await ask(row, await tokenWith(rights, sites))).status).toBe(200)
        expect(Object.keys((await stores.people.get(target))?.sites ?? {})).toEqual([String(other)])
        expect(await sitesOfRemoval()).toEqual([site])
      }
      for (const key of await keysWith(row.needs)) {
        await newTarget(row)
        expect((await ask(row, key)).status).toBe(200)
        expect(await stores.people.get(target)).toBeDefined()
      }
      await newTarget(row)
      expect((await ask(row, await tokenWith(row.needs, [site, other]))).status).toBe(200)
      expect(await stores.people.get(target)).toBeUndefined()
      expect(await sitesOfRemoval()).toEqual([site, other])
      await newTarget(row)
      const reader = await tokenWith(['access:read'])
      expect(statusAndCode(await ask(row, reader))).toEqual([403, 100403])
      expect(await stores.people.get(target)).toBeDefined()
    })
  })
