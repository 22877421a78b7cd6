import { currentKeys, describeKeys, issueKey, keyLifetimes, orderOfKey, revokeKey } from '../../lib/access/keys.ts'
import { describeEntry, describePerson, keyOfName, type Person, type SiteEntry } from '../../lib/access/people.ts'
import { describeInvitation } from '../../lib/access/sign-in.ts'
import { addUser as add, changeUser as change, findUser, removeUser as remove } from '../../lib/access/user-rules.ts'
import type * as answers from '../../lib/contract/access/answers.ts'
import type { GivenEntry } from '../../lib/contract/access/bodies.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import { invalidInput, ServiceError } from '../../lib/core/errors.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { compareText } from '../../lib/core/names.ts'
import { readCursor, viewsThatFit, writeCursor } from '../../lib/core/pages.ts'
import { parseFolder, parseRights, requireRight, textOfRight } from '../../lib/core/rights.ts'
import { bodiesOf, type OperationInput, operationsOn, readSwitches, type Segments } from '../../lib/http/operation.ts'
import { byValue, done, ok, secret } from '../../lib/http/reply.ts'
import { checkConditions, tagOf } from '../../lib/http/representation.ts'
import type { Switches } from '../../lib/http/request.ts'
import type { AccessDeps } from '../../lib/service/deps.ts'

const operation = operationsOn<AccessDeps>()

const bodyOf = bodiesOf({
  schemas: () => import('../../lib/contract/access/bodies.ts'),
  malformed: 'accessMalformed',
})

const mostItems = 500

/** `after` is the key of the last item of the previous page. Errors: accessMalformed. */
const pageIn = (list: 'users' | 'keys') => async (query: Switches) => {
  const { limit = mostItems, cursor } = await readSwitches(query, ['limit', 'cursor'], bodyOf('pageSwitches'))
  const after = cursor ? readCursor(cursor, [list], 'accessMalformed').after : ''
  return { list, limit: Math.min(limit, mostItems), after }
}

type Page = Awaited<ReturnType<ReturnType<typeof pageIn>>>

/** `items` are in the order of their keys. The page has as many views as fit into an answer. */
const pageOf = async <Item, View>(
  { list, limit, after }: Page,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  viewsOf: (items: readonly Item[]) => readonly View[] | Promise<readonly View[]>,
) => {
  const rest = items.filter((item) => compareText(keyOf(item), after) > 0)
  const views = viewsThatFit(await viewsOf(rest.slice(0, limit)), (view) => view)
  const last = rest[views.length - 1]
  const isEnd = last === undefined || views.length === rest.length
  return {
    views,
    next: isEnd ? {} : { nextCursor: writeCursor({ by: list, after: keyOf(last) }) },
  }
}

const nameOf = ({ user = '' }: Segments): { name: string } => ({ name: user })

const entryIn = ({ role, folders, rights }: GivenEntry): SiteEntry | undefined => {
  if (rights) return { rights: parseRights(rights).map(textOfRight) }
  return role && { role, ...(folders && { folders: folders.flatMap((folder) => parseFolder(folder) ?? []) }) }
}

/** shows only the entry of this site. */
const userView = (person: Person, site: SiteId): Answer<typeof answers.user> => ({
  ...describePerson(person),
  ...describeEntry(person.sites[site]),
})

/** */
export const listUsers = operation({ query: pageIn('users') }, async ({ site, query }, { people }) => {
  const all = await people.listOfSites(site.id)
  const viewsOf = (shown: readonly Person[]) => shown.map((person) => userView(person, site.id))
  const { views: users, next } = await pageOf(query, all, ({ name }) => keyOfName(name), viewsOf)
  return ok<Answer<typeof answers.userPage>>({ users, ...next })
})

/** 404/101010 for a person without an entry on the site. */
export const getUser = operation({ params: nameOf }, async ({ site, params }, deps) =>
  ok(userView(await findUser(deps, site.id, params.name), site.id), { tag: byValue }),
)

/** a change applies only to a state that `If-Match` names. */
const onlyTo = <Input extends Pick<OperationInput, 'site' | 'headers'>>(input: Input) => ({
  ...input,
  checkState: (person: Person) => checkConditions(input.headers, tagOf(userView(person, input.site.id))),
})

/** 409/101011 for a name that is taken. */
export const addUser = operation({ body: bodyOf('userCreationBody') }, async (input, deps) => {
  const { site, body, dataCentre } = input
  const sites = { [site.id]: entryIn(body) ?? { rights: [] } }
  const { person, invitation } = await add(deps, input, { ...body, sites })
  return secret<Answer<typeof answers.invitation>>(describeInvitation(person.name, invitation, dataCentre.url), 201)
})

/** 403/100403 for rights that the caller lacks, 409/101012 for the last owner. */
export const changeUser = operation({ params: nameOf, body: bodyOf('userChangeBody') }, async (input, deps) => {
  const { body, params, dataCentre } = input
  const { person, invitation } = await change(deps, onlyTo(input), params.name, { ...body, entry: entryIn(body) })
  return secret<Answer<typeof answers.invitation>>(describeInvitation(person.name, invitation, dataCentre.url))
})

/** */
export const removeUser = operation({ params: nameOf }, async (input, deps) => {
  await remove(deps, onlyTo(input), input.params.name)
  return done
})

/** lists the keys of a site with their current rights. */
export const listKeys = operation({ query: pageIn('keys') }, async ({ site, query }, deps) => {
  const keys = await currentKeys(deps.grants, site.id, deps.clock.wall())
  const { views, next } = await pageOf(query, keys, orderOfKey, (shown) => describeKeys(deps, shown))
  return ok<Answer<typeof answers.keyList>>({ keys: views, ...next })
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
export const createKey = operation({ body: bodyOf('keyCreationBody') }, async (input, deps) => {
  const { site, caller, body, author } = input
  const rights = parseRights(body.rights)
  if (!caller.person) throw new ServiceError('rightMissing', noPerson)
  for (const right of rights) requireRight(caller.rights, right, 'rightMissing')
  const wanted = { name: body.name, rights, expires: expiryOf(body.expires, Math.floor(deps.clock.wall() / 1000)) }
  const key = await issueKey(deps.grants, caller.person, site.id, wanted, author)
  return secret<Answer<typeof answers.createdKey>>(key, 201)
})

/** 404/101010 for a key that the site does not have. */
export const deleteKey = operation({ params: ({ key = '' }) => ({ key }) }, async (input, { grants }) => {
  await revokeKey(grants, input.site.id, input.params.key, input.author)
  return done
})
