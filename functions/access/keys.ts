import { currentKeys, describeKeys, issueKey, keyLifetimes, orderOfKey, revokeKey } from '../../lib/access/keys.ts'
import type { createdKey, keyList } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { invalidInput, ServiceError } from '../../lib/core/errors.ts'
import { parseRights, requireRight } from '../../lib/core/rights.ts'
import { done, ok, secret } from '../../lib/http/reply.ts'
import { bodyOf, operation, pageIn, pageOf } from './bodies.ts'

/** lists the keys of a site with their current rights. */
export const listKeys = operation({ query: pageIn('keys') }, async ({ site, query }, deps) => {
  const keys = await currentKeys(deps.grants, site.id, deps.clock.wall())
  const { views, next } = await pageOf(query, keys, orderOfKey, (shown) => describeKeys(deps, shown))
  return ok<Answer<typeof keyList>>({ keys: views, ...next })
})

/** A-88, in epoch seconds. Errors: accessMalformed. */
const expiryOf = (wanted: string | undefined, now: number): number => {
  const expires = wanted === undefined ? now + keyLifetimes.usual : Math.floor(Date.parse(wanted) / 1000)
  if (expires > now && expires <= now + keyLifetimes.longest) return expires
  throw invalidInput('accessMalformed', [
    { path: 'expires', message: 'must be in the future, and at most a year from now' },
  ])
}

const noPerson = {
  message: 'Only a person can create a key, but this token belongs to no person. Sign in with name and password.',
}

/** Errors: accessMalformed, rightMissing. */
export const createKey = operation({ body: bodyOf('newKeyBody') }, async ({ site, caller, body, author }, deps) => {
  const { name, expires } = body
  const rights = parseRights(body.rights)
  if (!caller.person) throw new ServiceError('rightMissing', noPerson)
  for (const right of rights) requireRight(caller.rights, right, 'rightMissing')
  const wanted = { name, rights, expires: expiryOf(expires, Math.floor(deps.clock.wall() / 1000)) }
  const key = await issueKey(deps.grants, caller.person, site.id, wanted, author)
  return secret<Answer<typeof createdKey>>(key, 201)
})

/** 404/101010 for a key that the site does not have. */
export const deleteKey = operation({ params: ({ key = '' }) => ({ key }) }, async (input, { grants }) => {
  const { site, params, author } = input
  if (!/^[0-9a-f]{64}$/.test(params.key) || !(await revokeKey(grants, site.id, params.key, author)))
    throw new ServiceError('keyUnknown')
  return done
})
