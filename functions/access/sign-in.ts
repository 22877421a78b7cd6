import type * as z from 'zod/mini'
import { acceptInvitation as accept } from '../../lib/access/invitations.ts'
import { beginSession } from '../../lib/access/sessions.ts'
import { authenticatePerson } from '../../lib/access/sign-in.ts'
import { type RoutedRequest, readBody } from '../../lib/http/operation.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import type { Reply } from '../../lib/http/reply.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { bodyOf, loadChecks, requireHttps } from './bodies.ts'
import { signInWithoutPassword } from './exchange.ts'
import type { IssuerDeps } from './external-sign-in.ts'
import { logged, logSignIn } from './sign-in-log.ts'
import { tokenReply } from './token-reply.ts'

const form = async (text: string): Promise<unknown> => (await import('../../lib/http/form.ts')).readForm(text)
const xml = async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXmlTexts(text)

type Credentials = z.output<Awaited<ReturnType<typeof loadChecks>>['signInBody']>

const signInWith = async (deps: AccessDeps, request: RoutedRequest, credentials: Credentials): Promise<Reply> => {
  await requireHttps(deps, request)
  const known = await deps.people.get(credentials.username)
  const signIn = authenticatePerson(deps, { ...credentials, address: request.address }, known)
  const person = await logged(deps, request, known?.name ?? null, signIn)
  return tokenReply(await beginSession(deps, person, credentials.tokenExpiryPeriod))
}

/**
 * a wrong name takes as much work as a wrong password, and both get 401/101001.: sign-ins
 * without a password.
 */
export const signIn = publicOperation(async (request, deps: IssuerDeps) => {
  const [{ readDocument }, { signInBody, validate }] = await Promise.all([
    import('../../lib/http/read-body.ts'),
    loadChecks(),
  ])
  const document = await readDocument(request, 'accessMalformed', { form })
  const reply = await signInWithoutPassword(deps, request, document)
  return reply ?? signInWith(deps, request, validate(signInBody, document, 'accessMalformed'))
})

export const signInV1 = publicOperation(async (request, deps: AccessDeps) =>
  signInWith(deps, request, await readBody(request, { ...bodyOf('signInBody'), form, xml })),
)

/** 404/101003 for an invitation that is unknown, used or expired, 400/101013 for a weak password. */
export const acceptInvitation = publicOperation(async (request, deps: AccessDeps) => {
  await requireHttps(deps, request)
  const { invitation, password, tokenExpiryPeriod } = await readBody(request, bodyOf('invitationBody'))
  const person = await accept(deps, invitation, { password, address: request.address })
  logSignIn(deps, request, person.name)
  return tokenReply(await beginSession(deps, person, tokenExpiryPeriod))
})
