import { ServiceError } from '../core/errors.ts'
import { inIso } from '../core/time.ts'
import { hashToken, isCurrent, newToken } from './grants.ts'
import type { Person } from './people.ts'
import { beginSession, type Credentials, type Period, type SignInDeps, withPassword } from './sign-in.ts'
import { rememberSignIn } from './sign-in-limits.ts'

const lifetime = 7 * 24 * 3600

/** `text` is secret. `expires` is in epoch seconds. */
export interface Invitation {
  readonly text: string
  readonly expires: number
}

/** `url` is the base URL of the service. */
export const describeInvitation = (name: string, invitation: Invitation | undefined, url: string) => ({
  name,
  ...(invitation && {
    invitation: `${url}/console#invitation=${encodeURIComponent(invitation.text)}`,
    expires: inIso(invitation.expires),
  }),
})

/**
 * an invitation begins with the name of its person. So to accept an invitation, the service writes only the
 * record of this person.
 */
export const invite = (person: Person, now: number): { readonly person: Person; readonly invitation: Invitation } => {
  const secret = newToken()
  const expires = Math.floor(now / 1000) + lifetime
  return {
    person: { ...person, invitation: { hash: hashToken(secret), expires } },
    invitation: { text: `${person.name}.${secret}`, expires },
  }
}

const shape = /^(.{1,64})\.([0-9a-f]{64})$/

export const openInvitation = ({ invitation, disabled }: Person, now: number): Person['invitation'] =>
  invitation && !disabled && isCurrent(invitation, now) ? invitation : undefined

/**
 * Ends all sessions of the person and forgets all accounts at issuers, because somebody else may use them. Returns
 * the name of the person and the token of a new session. The session is stored first, and begins with the change of the
 * person. So the caller can repeat an acceptance that gets 503. Errors: invitationUnknown, passwordWeak, unavailable.
 */
export const acceptInvitation = async (
  deps: SignInDeps,
  text: string,
  acceptance: Omit<Credentials, 'username'>,
  period?: Period,
): Promise<{ readonly name: string; readonly token: string }> => {
  const now = deps.clock.wall()
  const [, name = '', secret = ''] = shape.exec(text) ?? []
  const person = name === '' ? undefined : await deps.people.get(name)
  const invitation = person && openInvitation(person, now)
  // The duration of this comparison tells nothing: nobody can choose the hash of a guess.
  if (!invitation || invitation.hash !== hashToken(secret)) throw new ServiceError('invitationUnknown')
  const { identities: _, ...invited } = rememberSignIn(person, acceptance.address, now)
  const after = await withPassword(deps, invited, acceptance.password)
  const token = await beginSession(deps, after, period)
  const outcome = await deps.people.replace(person, after, [])
  // Another change of the person came first. It may have used up the invitation.
  return outcome === 'done' ? { name: person.name, token } : acceptInvitation(deps, text, acceptance, period)
}
