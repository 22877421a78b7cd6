import type * as z from 'zod/mini'
import { hashPassword, isOutdated, matchesPassword } from '../../lib/access/passwords.ts'
import type { Person } from '../../lib/access/people.ts'
import { beginSession } from '../../lib/access/sessions.ts'
import type { signInBody } from '../../lib/contract/access/bodies.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { bodyOf, readBody } from '../../lib/http/operation.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import type { Reply } from '../../lib/http/reply.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { signInElsewhere } from './exchange.ts'
import { tokenReply } from './token-reply.ts'

const bodies = {
  schemas: () => import('../../lib/contract/access/bodies.ts'),
  malformed: 'accessMalformed' as const,
}

const form = async (text: string): Promise<unknown> => (await import('../../lib/http/form.ts')).readForm(text)
const xml = async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXmlTexts(text)

/** what a sign-in changes in the stored person. */
const afterSignIn = async (person: Person, password: string, now: number): Promise<Person> => ({
  ...person,
  lastSignIn: new Date(now).toISOString().slice(0, 10),
  ...(person.password !== undefined && isOutdated(person.password) && { password: await hashPassword(password) }),
})

const isSame = (before: Person, after: Person): boolean =>
  before.lastSignIn === after.lastSignIn && before.password === after.password

type Credentials = z.output<typeof signInBody>

/** 401/101001 for a wrong name or password, after the same amount of work. */
const signInWith = async (
  { people, grants, clock }: AccessDeps,
  { username, password, tokenExpiryPeriod }: Credentials,
): Promise<Reply> => {
  const person = await people.get(username.normalize('NFC'))
  const isRight = await matchesPassword(password, person?.password)
  if (!person || !isRight || person.disabled) throw new ServiceError('signInRefused')
  const after = await afterSignIn(person, password, clock.wall())
  // Another change of the person may come first: the session then follows that one.
  if (!isSame(person, after)) await people.replace(person, after, [])
  return tokenReply(await beginSession({ grants, clock }, person, tokenExpiryPeriod))
}

const malformed = 'accessMalformed'

/** With a password, a code or the token of an issuer. */
export const signIn = (deps: AccessDeps) =>
  publicOperation(async (request) => {
    const [{ readDocument }, { validate }, { signInBody: schema }] = await Promise.all([
      import('../../lib/http/read-body.ts'),
      import('../../lib/http/validate.ts'),
      import('../../lib/contract/access/bodies.ts'),
    ])
    const document = await readDocument(request, malformed, { form })
    return (await signInElsewhere(deps, document)) ?? signInWith(deps, validate(schema, document, malformed))
  })

export const signInV1 = (deps: AccessDeps) =>
  publicOperation(async (request) =>
    signInWith(deps, await readBody(request, { ...bodyOf(bodies, 'signInBody'), form, xml })),
  )
