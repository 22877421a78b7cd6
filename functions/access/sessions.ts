import { type Caller, callerOf, rightsOn } from '../../lib/access/callers.ts'
import { grantEntries, kindOf } from '../../lib/access/grants.ts'
import { describeEntry } from '../../lib/access/people.ts'
import { siteSession } from '../../lib/access/sessions.ts'
import { changePassword as change, endSessions } from '../../lib/access/sign-in.ts'
import type { me } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { textOfRight } from '../../lib/core/rights.ts'
import { inIso } from '../../lib/core/time.ts'
import { type CallerOperation, readBody } from '../../lib/http/operation.ts'
import { done, ok } from '../../lib/http/reply.ts'
import { siteIdIn } from '../../lib/http/resolve-site.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { bodyOf, requireHttps } from './bodies.ts'
import { tokenReply } from './sign-in-outcome.ts'

/** Errors: signInRefused, for keys and for tokens without a person. */
const signedIn = ({ kind, person }: Caller) => {
  if (kind === 'session' && person) return person
  throw new ServiceError('signInRefused', {
    message: 'This needs the token of a sign-in. Sign in with name and password.',
  })
}

/** 401/101001 if the person does not have the site, or if the site is in another data centre. */
export const createSiteToken: CallerOperation<AccessDeps> = async ({ caller: cached, params }, deps) => {
  const caller = callerOf(cached, await deps.people.get(signedIn(cached).name))
  if (!caller) throw new ServiceError('tokenRejected')
  const person = signedIn(caller)
  const id = siteIdIn(String(params['ownSite']), caller, { siteAmbiguous: 'siteAmbiguous' })
  const site = id === undefined ? undefined : await deps.findSite(id)
  if (site?.dataCentre !== deps.edge.dataCentre) {
    throw new ServiceError('signInRefused', {
      message: 'You have no site with this id in this data centre. GET /api/v1/admin/sites lists your sites.',
    })
  }
  return tokenReply(await siteSession(deps.grants, caller, person, site.id))
}

/** */
export const signOut: CallerOperation<AccessDeps> = async ({ caller, query, id: requestId }, deps) => {
  const entries = grantEntries('removed', caller, { actor: caller.user, requestId })
  if (query.has('all')) await endSessions(deps, signedIn(caller).name)
  else await deps.grants.remove(caller.hash, entries)
  return done
}

/** */
export const getMe: CallerOperation = async ({ caller }) => {
  const { person, sites, user, expires } = caller
  return ok<Answer<typeof me>>({
    name: person?.name ?? user,
    displayName: person?.displayName ?? null,
    email: person?.email ?? null,
    lastSignIn: person?.lastSignIn ?? null,
    kind: kindOf(caller),
    hasPassword: person?.password !== undefined,
    expires: inIso(expires),
    sites: sites.map((id) => ({
      id,
      ...describeEntry(person?.sites[id]),
      rights: rightsOn(caller, id).map(textOfRight),
    })),
  })
}

/** 401/101001 for a wrong old password, 400/101013 for a weak new one. */
export const changePassword: CallerOperation<AccessDeps> = async (request, deps) => {
  const { caller, address } = request
  const { name: username } = signedIn(caller)
  await requireHttps(deps, request)
  const { password, oldPassword } = await readBody(request, bodyOf('passwordBody'))
  const session = caller.parent ?? caller.hash
  await change(deps, session, { username, password: oldPassword, address }, password)
  return done
}
