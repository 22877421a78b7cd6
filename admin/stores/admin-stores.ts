import { userInfo } from 'node:os'
import { type Grant, grantEntries, hashToken, kindOf } from '../../lib/access/grants.ts'
import type { Author, ChangeType, HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { Stores } from '../../lib/service/stores.ts'
import type { Site } from '../../lib/sites/site-directory.ts'
import { Refusal } from '../terminal/output.ts'

export type ContentStores = Pick<Stores, 'webForms' | 'contents' | 'links'>

export interface AreaStores extends ContentStores, Pick<Stores, 'workflows' | 'history' | 'usage' | 'webhooks'> {
  /** V-17: undefined in a deployment without webhooks. */
  readonly seals?: Stores['seals']
  files(): Promise<Stores['files']>
}

export interface AdminStores extends Pick<Stores, 'sites' | 'grants' | 'people' | 'issuers'>, AsyncDisposable {
  areas(site: Pick<Site, 'dataCentre'>): Promise<AreaStores>
  /** In milliseconds: caches may accept a revoked token for this time. */
  memory(): Promise<number>
}

/** Reads a list to its end, in the order of the ids. */
export async function* readAll<Value extends { readonly id: number }>(
  most: number,
  read: (after: number, limit: number) => Promise<readonly Value[]>,
): AsyncGenerator<Value, void> {
  for (let after = 0; ; ) {
    const values = await read(after, most)
    yield* values
    const last = values.at(-1)
    if (last === undefined || values.length < most) return
    after = last.id
  }
}

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // In a container, the user id may have no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

// The author of changes that commands make.
export const administrator: Author = { actor: `admin:${userName()}` }

export const entryOf = (
  type: ChangeType,
  site: SiteId,
  subject: string,
  details?: HistoryEntry['details'],
): HistoryEntry => ({ ...administrator, site, type, subject, ...(details && { details }) })

interface Creation<Id extends number> {
  readonly wanted: Id | undefined
  // A free id above all used ids, and at least `least`.
  readonly next: (least: number) => Promise<number>
  readonly largest: number
  // If the id is taken, creates nothing and returns false.
  readonly create: (id: Id) => Promise<boolean>
  readonly taken: string
}

/** Creates an object with the wanted id, or with the next free id. Returns the id. Throws a Refusal. */
export const createUnderId = async <Id extends number>({ wanted, next, largest, create, taken }: Creation<Id>) => {
  // Another command may take the same id at the same moment. Then the next free id is tried.
  for (let id = wanted ?? (await next(1)); id <= largest; id = await next(id + 1)) {
    if (await create(id as Id)) return id as Id
    if (wanted !== undefined) throw new Refusal(`${taken} ${id} already. Choose another --id, or leave it out.`)
  }
  throw new Refusal('No id above the highest used id is free. Choose a lower id with --id.')
}

// The beginning of a hash, as `audit` and the lists of tokens and keys print it.
const beginningOfHash = /^(?:(?:token|key)\/)?([0-9a-f]{1,64})$/
const [leastDigits, lengthOfHash] = [8, 64]

/** Finds a grant by its secret, its hash, or the beginning of its hash (T-11). Throws a Refusal if it finds none or several. */
export const findGrant = async ({ grants }: Pick<AdminStores, 'grants'>, what: 'token' | 'key', text: string) => {
  const listing = what === 'key' ? 'key list --site ID' : 'token list'
  const isWanted = (grant: Grant) => kindOf(grant) === what
  const [, beginning] = beginningOfHash.exec(text) ?? []
  // A list of DynamoDB may lack a new grant. A read by the whole hash finds it.
  for (const hash of [hashToken(text), ...(beginning?.length === lengthOfHash ? [beginning] : [])]) {
    const own = await grants.get(hash)
    if (own && isWanted(own)) return own
  }
  if (beginning !== undefined && beginning.length < leastDigits) {
    throw new Refusal(`Give the first ${leastDigits} digits of the ${what} or more, as "${listing}" shows them.`)
  }
  const all = beginning === undefined ? [] : await grants.list()
  const [found, ...others] = all.filter((grant) => isWanted(grant) && grant.hash.startsWith(beginning ?? ''))
  if (others.length > 0) {
    throw new Refusal(`The hashes of ${others.length + 1} ${what}s begin with ${beginning}. Add more digits.`)
  }
  if (found) return found
  throw new Refusal(`This ${what} does not exist: it may be revoked or expired. "${listing}" lists the ${what}s.`)
}

export const personOf = async ({ people }: Pick<AdminStores, 'people'>, name: string, site?: SiteId) => {
  const person = await people.get(name)
  if (person && (site === undefined || person.sites[site])) return person
  throw new Refusal(
    site === undefined
      ? `There is no person ${name}. "user list --site ID" lists the people of a site.`
      : `Site ${site} has no person ${name}. "user list --site ${site}" lists its people.`,
  )
}

export const revokeGrant = async (stores: AdminStores, what: 'token' | 'key', text: string) => {
  const grant = await findGrant(stores, what, text)
  await stores.grants.remove(grant.hash, grantEntries('removed', grant, administrator))
  return { revoked: true }
}
