import { hashPassword, isOutdated, matchesPassword } from '../../lib/access/passwords.ts'
import type { Person } from '../../lib/access/people.ts'
import { beginSession } from '../../lib/access/sessions.ts'
import type { token as tokenAnswer } from '../../lib/contract/access/contract.ts'
import { accessXml } from '../../lib/contract/access/xml-names.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { bodyOf, readBody } from '../../lib/http/operation.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

export const bodies = {
  schemas: () => import('../../lib/contract/access/bodies.ts'),
  malformed: 'accessMalformed' as const,
}

const form = async (text: string): Promise<unknown> => (await import('../../lib/http/form.ts')).readForm(text)
const xml = async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXmlTexts(text)

const tokenReply = (token: string) => {
  const value: Answer<typeof tokenAnswer> = { token }
  return { ...ok({ value, xml: accessXml.token }), headers: { 'Cache-Control': 'no-store' } }
}

/** what a sign-in changes in the stored person. */
const afterSignIn = async (person: Person, password: string, now: number): Promise<Person> => ({
  ...person,
  lastSignIn: new Date(now).toISOString().slice(0, 10),
  ...(person.password !== undefined && isOutdated(person.password) && { password: await hashPassword(password) }),
})

const isSame = (before: Person, after: Person): boolean =>
  before.lastSignIn === after.lastSignIn && before.password === after.password

/** 401/101001 for a wrong name or password, after the same amount of work. */
const signInWith = ({ people, grants, clock }: AccessDeps, forms: { readonly xml?: typeof xml }) =>
  publicOperation(async (request) => {
    const shape = { ...bodyOf(bodies, 'signInBody'), form, ...forms }
    const { username, password, tokenExpiryPeriod } = await readBody(request, shape)
    const person = await people.get(username.normalize('NFC'))
    const isRight = await matchesPassword(password, person?.password)
    if (!person || !isRight || person.disabled) throw new ServiceError('signInRefused')
    const after = await afterSignIn(person, password, clock.wall())
    // Another change of the person may come first: the session then follows that one.
    if (!isSame(person, after)) await people.replace(person, after, [])
    return tokenReply(await beginSession({ grants, clock }, person, tokenExpiryPeriod))
  })

export const signIn = (deps: AccessDeps) => signInWith(deps, {})

export const signInV1 = (deps: AccessDeps) => signInWith(deps, { xml })
