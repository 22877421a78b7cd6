import { type Grant, grantEntries, hashToken, kindOf } from '../../lib/access/grants.ts'
import { Refusal } from '../terminal/output.ts'
import type { AdminStores } from './admin-stores.ts'
import { administrator } from './changes.ts'

// The beginning of a hash, as `audit` and the lists of tokens and keys print it.
const beginningOfHash = /^(?:(?:token|key)\/)?([0-9a-f]{8,64})$/
const lengthOfHash = 64

/** Finds a grant by its secret, its hash, or the beginning of its hash (T-11). Throws a Refusal if it finds none or several. */
export const findGrant = async (
  stores: Pick<AdminStores, 'grants'>,
  what: 'token' | 'key',
  text: string,
): Promise<Grant> => {
  const isWanted = (grant: Grant) => kindOf(grant) === what
  const [, beginning] = beginningOfHash.exec(text) ?? []
  // A list of DynamoDB may lack a new grant. A read by the whole hash finds it.
  for (const hash of [hashToken(text), ...(beginning?.length === lengthOfHash ? [beginning] : [])]) {
    const own = await stores.grants.get(hash)
    if (own && isWanted(own)) return own
  }
  const wanted = beginning === undefined ? [] : (await stores.grants.list()).filter(isWanted)
  const [found, ...others] = wanted.filter(({ hash }) => hash.startsWith(beginning ?? ''))
  if (others.length > 0) {
    throw new Refusal(
      `The hashes of ${others.length + 1} ${what}s begin with ${beginning}. Add more digits of the hash.`,
    )
  }
  if (found) return found
  throw new Refusal(`This ${what} does not exist: it may be revoked or expired. "${what} list" lists the ${what}s.`)
}

export const revokeGrant = async (stores: AdminStores, what: 'token' | 'key', text: string) => {
  const grant = await findGrant(stores, what, text)
  await stores.grants.remove(grant.hash, grantEntries('removed', grant, administrator))
  return { revoked: true }
}
