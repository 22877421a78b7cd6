import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Issuer, Trust } from '../../../lib/access/issuers/issuers.ts'
import { findPerson } from '../../../lib/access/issuers/sign-in.ts'
import type { Person } from '../../../lib/access/people.ts'
import { acceptInvitation, invite as createInvitation } from '../../../lib/access/sign-in.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { describeOn, hands, type TableStores } from '../../support/hands.ts'
import { testPerson } from '../../support/people.ts'

const site = 1001 as SiteId
const issuer: Issuer = { id: 'work', url: 'https://login.example.com', audience: 'programs', clientId: 'site-admin' }
const rules: Trust['rules'] = [{ id: '1', issuer: 'work', claims: { groups: 'web' }, site, grants: { role: 'editor' } }]
const trust: Trust = { issuers: [issuer], rules }
const now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
const newAddress = () => `${randomUUID().slice(0, 8)}@example.com`
const verified = (email = newAddress()) => ({ sub: randomUUID(), email, email_verified: true })

const openInvitation = { hash: 'a'.repeat(64), expires: Math.floor(now / 1000) + 60, byEmail: true } as const

const openSignIn = (stores: TableStores) => ({
  ...stores,
  arrive: (claims: object, by: Issuer = issuer) =>
    findPerson({ ...stores, clock }, { trust, issuer: by, claims: { ...claims }, requestId: 'request' }),
  async invite(details: Partial<Person> = {}): Promise<Person> {
    const person = testPerson({
      name: `p${randomUUID().slice(0, 8)}`,
      email: newAddress(),
      sites: { [site]: { role: 'viewer' } },
      invitation: openInvitation,
      ...details,
    })
    await stores.people.create(person, [])
    return person
  },
})

describeOn({ kinds: hands, subject: 'matching people of an issuer', clock }, ({ stores }) => {
  const { arrive, history, invite, people } = openSignIn(stores)

  test('A verified address matches an invited person, in upper or lower case (A-94)', async () => {
    const { name: invited, email } = await invite()
    const claims = verified(email.toUpperCase())
    expect(await arrive(claims)).toMatchObject({ name: invited, sites: { [site]: { role: 'viewer' } } })
    expect((await people.get(invited))?.invitation).toBeUndefined()
    expect(await arrive({ sub: claims.sub })).toMatchObject({ name: invited })
    expect((await history.before(site, undefined, 1))[0]).toMatchObject({ type: 'user.changed', actor: invited })
  })

  test('The first sign-in through an issuer ends password, sessions and accounts (A-94)', async () => {
    const planted = verified()
    const { name: invited } = await invite({ email: planted.email })
    const taken = await arrive(planted)
    if (!taken) throw new Error('Nobody was matched')
    const again = { ...taken, invitation: openInvitation, email: 'victim@example.com', password: 'known to others' }
    await people.replace(taken, again, [])
    await arrive(verified('victim@example.com'))
    const found = await people.get(invited)
    expect(found?.password).toBeUndefined()
    expect(found?.sessions).toBeGreaterThan(taken.sessions)
    expect(await arrive({ sub: planted.sub })).toBeUndefined()
  })

  test('Accepting an invitation removes the accounts at issuers (A-83)', async () => {
    const claims = { ...verified(), groups: 'web' }
    const person = await arrive(claims)
    if (!person) throw new Error('Nobody was added')
    const { person: invited, invitation } = createInvitation(person, now)
    await people.replace(person, invited, [])
    const deps = { ...stores, clock, findSite: async () => undefined }
    await acceptInvitation(deps, invitation.text, { password: 'correct horse battery', address: undefined })
    expect(await arrive({ sub: claims.sub })).toBeUndefined()
  })

  test('After a first sign-in, no other account with its address matches (A-94)', async () => {
    const { email } = await invite()
    await arrive(verified(email))
    expect(await arrive(verified(email))).toBeUndefined()
    expect(await arrive(verified(email), { ...issuer, url: 'https://other.example.com' })).toBeUndefined()
  })

  test('If two accounts with the address of a person sign in at once, one matches (A-94)', async () => {
    const { email } = await invite()
    const arrivals = await Promise.allSettled([verified(email), verified(email)].map((claims) => arrive(claims)))
    expect(arrivals.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(1)
  })

  test.each<[string, Partial<Person>, object]>([
    ['that is not verified', {}, { email_verified: false }],
    ['that is verified with the text "true"', {}, { email_verified: 'true' }],
    ['without the claim about its verification', {}, { email_verified: undefined }],
    ['with a similar character', { email: 'kim@example.com' }, { email: '\u212aim@example.com' }],
    [
      'of a person whose invitation has expired',
      { invitation: { ...openInvitation, expires: Math.floor(now / 1000) } },
      {},
    ],
    ['of a person who is disabled', { disabled: true }, {}],
  ])('An address %s matches nobody (A-94)', async (_, details, claims) => {
    const { email } = await invite(details)
    expect(await arrive({ ...verified(email), ...claims })).toBeUndefined()
  })

  test('The address of a person without an invitation matches nobody (A-94)', async () => {
    await people.create(testPerson({ name: 'own', email: 'own@example.com' }), [])
    expect(await arrive(verified('own@example.com'))).toBeUndefined()
  })

  test('An address of two people matches neither of them (A-94)', async () => {
    const { email } = await invite()
    await invite({ email })
    expect(await arrive(verified(email))).toBeUndefined()
  })

  test('An invited person who signs in at once several times is one (A-94, A-95)', async () => {
    const { name: invited, email } = await invite()
    const claims = { ...verified(email), groups: ['web'] }
    await Promise.allSettled(Array.from({ length: 5 }, () => arrive(claims)))
    expect(await people.get(email)).toBeUndefined()
    expect(await arrive(claims)).toMatchObject({ name: invited })
  })

  test('A new person with the name of a removed person is somebody else (A-94)', async () => {
    const { name: first, email } = await invite()
    const claims = verified(email)
    const before = await arrive(claims)
    if (before) await people.replace(before, undefined, [])
    await people.create(testPerson({ name: first }), [])
    expect(await arrive({ sub: claims.sub })).toBeUndefined()
  })
})

describeOn({ kinds: hands, subject: 'adding people of an issuer', clock }, ({ stores }) => {
  const { arrive, invite, people } = openSignIn(stores)

  test('A person who signs in several times at once is added once (A-95)', async () => {
    const claims = { ...verified(), groups: ['press', 'web'] }
    const found = await Promise.all(Array.from({ length: 5 }, () => arrive(claims)))
    expect(new Set(found.map((person) => person?.name))).toEqual(new Set([claims.email]))
  })

  test('If the name is taken, the person gets a name with the id of the issuer (A-95)', async () => {
    const { name: taken } = await invite({ name: newAddress() })
    const found = await arrive({ ...verified(taken), groups: 'web', name: 'Eve\u0000' })
    expect(found).toMatchObject({ name: expect.stringMatching(/^work-[0-9a-f]{16}$/), displayName: 'Eve ' })
    expect((await people.get(taken))?.identities).toBeUndefined()
  })

  test.each([
    ['without @', 'admin'],
    ['with a control character', 'a\u0000@example.com'],
    ['with half a character', '\ud800@example.com'],
    ['of 255 characters', `${'x'.repeat(243)}@example.com`],
  ])('A text %s is no address of a person, whatever the issuer says (A-53, A-95)', async (_, email) => {
    const found = await arrive({ ...verified(email), groups: 'web' })
    expect(found).toMatchObject({ name: expect.stringMatching(/^work-/), email: '' })
  })

  test('A long name at the issuer is cut between two characters (A-53, A-95)', async () => {
    const found = await arrive({ sub: randomUUID(), groups: 'web', name: `${'x'.repeat(199)}🐎` })
    expect(found?.displayName.isWellFormed()).toBe(true)
  })
})
