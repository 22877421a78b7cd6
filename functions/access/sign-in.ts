import { acceptInvitation as accept } from '../../lib/access/invitations.ts'
import { beginSession } from '../../lib/access/sessions.ts'
import { authenticatePerson } from '../../lib/access/sign-in.ts'
import type { token as tokenAnswer } from '../../lib/contract/access/contract.ts'
import { accessXml } from '../../lib/contract/access/xml-names.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { errors, ServiceError } from '../../lib/core/errors.ts'
import { bodyOf, type RoutedRequest, readBody } from '../../lib/http/operation.ts'
import { publicOperation } from '../../lib/http/public-operation.ts'
import { ok } from '../../lib/http/reply.ts'
import type { SignInRecord } from '../../lib/http/request.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { bodies, requireHttps } from './bodies.ts'

const form = async (text: string): Promise<unknown> => (await import('../../lib/http/form.ts')).readForm(text)
const xml = async (text: string): Promise<unknown> => (await import('../../lib/http/read-xml.ts')).readXmlTexts(text)

const neverStored = { 'Cache-Control': 'no-store' }

export const tokenReply = (token: string) => {
  const value: Answer<typeof tokenAnswer> = { token }
  return { ...ok({ value, xml: accessXml.token }), headers: neverStored }
}

const outcomeOf = (error: unknown): SignInRecord['outcome'] =>
  error instanceof ServiceError && error.code === errors.tooManyRequests.code ? 'too many' : 'refused'

/** every sign-in leaves a line in the log. */
const signInAs = async (
  deps: AccessDeps,
  { address }: RoutedRequest,
  { username, password }: { readonly username: string; readonly password: string },
) => {
  const person = await deps.people.get(username, true)
  const report = (outcome: SignInRecord['outcome']) =>
    deps.edge.telemetry.signIn?.({ name: person?.name ?? null, address: address ?? null, outcome })
  try {
    const found = await authenticatePerson(deps, { username, password, address }, person)
    report('signed in')
    return found
  } catch (error) {
    report(outcomeOf(error))
    throw error
  }
}

const signInWith = (deps: AccessDeps, forms: { readonly xml?: typeof xml }) =>
  publicOperation(async (request) => {
    await requireHttps(deps, request)
    const credentials = await readBody(request, { ...bodyOf(bodies, 'signInBody'), form, ...forms })
    const person = await signInAs(deps, request, credentials)
    return tokenReply(await beginSession(deps, person, credentials.tokenExpiryPeriod))
  })

/** 401/101001 for a wrong name or password, after the same amount of work. */
export const signIn = (deps: AccessDeps) => signInWith(deps, {})

export const signInV1 = (deps: AccessDeps) => signInWith(deps, { xml })

/** 404/101003 for an invitation that is unknown, used or expired, 400/101013 for a weak password. */
export const acceptInvitation = (deps: AccessDeps) =>
  publicOperation(async (request) => {
    await requireHttps(deps, request)
    const { invitation, password, tokenExpiryPeriod } = await readBody(request, bodyOf(bodies, 'invitationBody'))
    return tokenReply(await beginSession(deps, await accept(deps, invitation, password), tokenExpiryPeriod))
  })
