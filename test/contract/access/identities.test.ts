import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Issuer, Trust } from '../../../lib/access/issuers/issuers.ts'
import { findPerson } from '../../../lib/access/issuers/sign-in.ts'
import type { Person } from '../../../lib/access/people.ts'
import { acceptInvitation, invite as createInvitation } from '../../../lib/access/sign-in.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { describeOn, hands } from '../../support/hands.ts'
import { testPerson } from '../../support/people.ts'

const site = 1001 as SiteId
const issuer: Issuer = { id: 'work', url: 'https://login.example.com', audience: 'programs', clientId: 'site-admin' }
const trust: Trust = {
  issuers: [issuer],
  rules: [{ id: '1', issuer: 'work', claims: { groups: 'web' }, site, grants: { role: 'editor' } }],
}

const now = Date.now()
const clock = { wall: () => now, monotonic: () => now }
describeOn({ kinds: hands, subject: 'people of an issuer', clock }, (hand) => {
  const { accessValues, history, people } = hand.stores
  const signInDeps = { ...hand.stores, clock, findSite: async () => undefined }

  const arrive = (claims: object, by: Issuer = issuer) =>
    findPerson({ people, accessValues, clock }, { trust, issuer: by, claims: { ...claims }, requestId: 'request' })

  const invite = async (details: Partial<Person> = {}): Promise<Person> => {
    const person = testPerson({
      name: `p${randomUUID().slice(0, 8)}`,
      email: `${randomUUID().slice(0, 8)}@example.com`,
      sites: { [site]: { role: 'viewer' } },
      invitation: { hash: 'a'.repeat(64), expires: Math.floor(now / 1000) + 60 },
      ...details,
    })
    await people.create(person, [])
    return person
  }
  const sub = () => randomUUID()

  test('A verified address matches an invited person, in upper or lower case (A-94)', async () => {
    const { name: invited, email } = await invite()
    const claims = { sub: sub(), email: email.toUpperCase(), email_verified: true }
    expect(await arrive(claims)).toMatchObject({ name: invited, sites: { [site]: { role: 'viewer' } } })
    expect((await people.get(invited))?.invitation).toBeUndefined()
    expect(await arrive({ sub: claims.sub })).toMatchObject({ name: invited })
    expect((await history.before(site, undefined, 1))[0]).toMatchObject({ type: 'user.changed', actor: invited })
  })

  test('The first sign-in through an issuer ends password, sessions and accounts (A-94)', async () => {
    const other = sub()
    const planted = { sub: other, email: `${other}@example.com`, email_verified: true }
    const { name: invited } = await invite({ email: planted.email })
    const taken = await arrive(planted)
    if (!taken) throw new Error('Nobody was matched')
    const { person: again } = createInvitation(taken, now)
    await people.replace(taken, { ...again, email: 'victim@example.com', password: 'known to others' }, [])
    await arrive({ sub: sub(), email: 'victim@example.com', email_verified: true })
    const found = await people.get(invited)
    expect(found?.password).toBeUndefined()
    expect(found?.sessions).toBeGreaterThan(taken.sessions)
    expect(await arrive({ sub: other })).toBeUndefined()
  })

  test('Accepting an invitation removes the accounts at issuers (A-83)', async () => {
    const account = sub()
    const claims = { sub: account, email: `${account}@example.com`, email_verified: true, groups: 'web' }
    const person = await arrive(claims)
    if (!person) throw new Error('Nobody was added')
    const { person: invited, invitation } = createInvitation(person, now)
    await people.replace(person, invited, [])
    await acceptInvitation(signInDeps, invitation.text, { password: 'correct horse battery', address: undefined })
    expect(await arrive({ sub: account })).toBeUndefined()
  })

  test('After a first sign-in, no other account with its address matches (A-94)', async () => {
    const { email } = await invite()
    await arrive({ sub: sub(), email, email_verified: true })
    expect(await arrive({ sub: sub(), email, email_verified: true })).toBeUndefined()
    const other = { ...issuer, url: 'https://other.example.com' }
    expect(await arrive({ sub: sub(), email, email_verified: true }, other)).toBeUndefined()
  })

  const expired = { hash: 'b'.repeat(64), expires: Math.floor(now / 1000) }
  test.each<[string, Partial<Person>, object]>([
    ['that is not verified', {}, { email_verified: false }],
    ['that is verified with the text "true"', {}, { email_verified: 'true' }],
    ['without the claim about its verification', {}, { email_verified: undefined }],
    ['with a similar character', { email: 'kim@example.com' }, { email: '\u212aim@example.com' }],
    ['of a person whose invitation has expired', { invitation: expired }, {}],
    ['of a person who is disabled', { disabled: true }, {}],
  ])('An address %s matches nobody (A-94)', async (_, details, claims) => {
    const { email } = await invite(details)
    expect(await arrive({ sub: sub(), email, email_verified: true, ...claims })).toBeUndefined()
  })

  test('The address of a person without an invitation matches nobody (A-94)', async () => {
    const person = testPerson({ name: `p${sub().slice(0, 8)}`, email: 'own@example.com' })
    await people.create(person, [])
    expect(await arrive({ sub: sub(), email: person.email, email_verified: true })).toBeUndefined()
  })

  test('An address of two people matches neither of them (A-94)', async () => {
    const { email } = await invite()
    await invite({ email })
    expect(await arrive({ sub: sub(), email, email_verified: true })).toBeUndefined()
  })

  test('A person who signs in several times at once is added once (A-95)', async () => {
    const claims = { sub: sub(), email: `${sub().slice(0, 8)}@example.com`, email_verified: true, groups: ['web'] }
    const found = await Promise.all(Array.from({ length: 5 }, () => arrive(claims)))
    expect(new Set(found.map((person) => person?.name))).toEqual(new Set([claims.email]))
  })

  test('An invited person who signs in at once several times is one (A-94, A-95)', async () => {
    const { name: invited, email } = await invite()
    const claims = { sub: sub(), email, email_verified: true, groups: ['web'] }
    await Promise.allSettled(Array.from({ length: 5 }, () => arrive(claims)))
    expect(await people.get(email)).toBeUndefined()
    expect(await arrive(claims)).toMatchObject({ name: invited })
  })

  test('If the name is taken, the person gets a name with the id of the issuer (A-95)', async () => {
    const { name: taken } = await invite({ name: `${sub().slice(0, 8)}@example.com` })
    const found = await arrive({ sub: sub(), email: taken, email_verified: true, groups: 'web', name: 'Eve\u0000' })
    expect(found).toMatchObject({ name: expect.stringMatching(/^work-[0-9a-f]{16}$/), displayName: 'Eve ' })
    expect((await people.get(taken))?.identities).toBeUndefined()
  })

  test.each([
    ['without @', 'admin'],
    ['with a control character', 'a\u0000@example.com'],
    ['with half a character', '\ud800@example.com'],
    ['of 255 characters', `${'x'.repeat(243)}@example.com`],
  ])('A text %s is no address of a person, whatever the issuer says (A-53, A-95)', async (_, email) => {
    const found = await arrive({ sub: sub(), email, email_verified: true, groups: 'web' })
    expect(found).toMatchObject({ name: expect.stringMatching(/^work-/), email: '' })
  })

  test('A long name at the issuer is cut between two characters (A-53, A-95)', async () => {
    const found = await arrive({ sub: sub(), groups: 'web', name: `${'x'.repeat(199)}🐎` })
    expect(found?.displayName.isWellFormed()).toBe(true)
  })

  test('A new person with the name of a removed person is somebody else (A-94)', async () => {
    const { name: first, email } = await invite()
    const account = sub()
    const before = await arrive({ sub: account, email, email_verified: true })
    if (before) await people.replace(before, undefined, [])
    await people.create(testPerson({ name: first }), [])
    expect(await arrive({ sub: account })).toBeUndefined()
  })
})
