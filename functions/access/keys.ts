import { currentKeys, describeKeys, issueKey, keyLifetimes, orderOfKey, revokeKey } from '../../lib/access/keys.ts'
import type { createdKey, keyList } from '../../lib/contract/access/answers.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { invalidInput, ServiceError } from '../../lib/core/errors.ts'
import { parseRights, requireRight } from '../../lib/core/rights.ts'
import { bodyOf, operation } from '../../lib/http/operation.ts'
import { done, ok, secret } from '../../lib/http/reply.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'
import { bodies } from './bodies.ts'
import { pageIn, pageOf } from './pages.ts'

/** lists the keys of a site with their current rights. */
export const listKeys = (deps: AccessDeps) =>
  operation({ query: pageIn }, async ({ site, query: { limit, after } }) => {
    const rest = (await currentKeys(deps.grants, site.id, deps.clock.wall())).filter((key) => orderOfKey(key) > after)
    const { views, next } = pageOf(rest, await describeKeys(deps, rest.slice(0, limit)), orderOfKey)
    return ok<Answer<typeof keyList>>({ value: { keys: views, ...next } })
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
export const createKey = ({ grants, clock }: AccessDeps) =>
  operation(
    { body: bodyOf(bodies, 'newKeyBody') },
    async ({ site, caller, body: { name, rights: texts, expires }, author }) => {
      const rights = parseRights(texts)
      if (!caller.person) throw new ServiceError('rightMissing', noPerson)
      for (const right of rights) requireRight(caller.rights, right, 'rightMissing')
      const wanted = { name, rights, expires: expiryOf(expires, Math.floor(clock.wall() / 1000)) }
      const created = await issueKey(grants, caller.person, site.id, wanted, author)
      return secret<Answer<typeof createdKey>>(created, 201)
    },
  )

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

/** 404/101010 for a key that the site does not have. */
export const deleteKey = ({ grants }: AccessDeps) =>
  operation({ params: ({ key = '' }) => ({ key }) }, async ({ site, params, author }) => {
    if (!isHash(params.key) || !(await revokeKey(grants, site.id, params.key, author)))
      throw new ServiceError('keyUnknown')
    return done
  })
