import { describeInvitation } from '../../lib/access/invitations.ts'
import { describeEntry, describePerson, keyOfName, type Person, type SiteEntry } from '../../lib/access/people.ts'
import { addUser as add, changeUser as change, findUser, removeUser as remove } from '../../lib/access/user-rules.ts'
import type { invitation as invitationAnswer, user as userAnswer, userPage } from '../../lib/contract/access/answers.ts'
import type { GivenEntry } from '../../lib/contract/access/bodies.ts'
import type { Answer } from '../../lib/contract/contract.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import type { Segments } from '../../lib/http/operation.ts'
import { done, ok, secret } from '../../lib/http/reply.ts'
import { bodyOf, operation, pageIn, pageOf } from './bodies.ts'

const nameOf = ({ user = '' }: Segments): { name: string } => ({ name: user })

const entryIn = ({ role, folders, rights }: GivenEntry): SiteEntry | undefined => {
  if (rights) return { rights }
  return role && { role, ...(folders && { folders }) }
}

/** shows only the entry of this site. */
const userView = (person: Person, site: SiteId): Answer<typeof userAnswer> => ({
  ...describePerson(person),
  ...describeEntry(person.sites[site]),
})

const keyOfPerson = ({ name }: Person): string => keyOfName(name)

/** */
export const listUsers = operation({ query: pageIn('users') }, async ({ site, query }, { people }) => {
  const views = (shown: readonly Person[]) => shown.map((person) => userView(person, site.id))
  const { views: users, next } = await pageOf(query, await people.listOfSite(site.id), keyOfPerson, views)
  return ok<Answer<typeof userPage>>({ users, ...next })
})

/** 404/101010 for a person without an entry on the site. */
export const getUser = operation({ params: nameOf }, async ({ site, params }, deps) =>
  ok(userView(await findUser(deps, site.id, params.name), site.id)),
)

/** 409/101011 for a name that is taken. */
export const addUser = operation({ body: bodyOf('newUserBody') }, async (input, deps) => {
  const { site, body, dataCentre } = input
  const sites = { [site.id]: entryIn(body) ?? { rights: [] } }
  const { person, invitation } = await add(deps, input, { ...body, sites })
  return secret<Answer<typeof invitationAnswer>>(describeInvitation(person.name, invitation, dataCentre.url), 201)
})

/** 403/100403 for rights that the caller lacks, 409/101012 for the last owner. */
export const changeUser = operation({ params: nameOf, body: bodyOf('userChangeBody') }, async (input, deps) => {
  const { body, params, dataCentre } = input
  const { person, invitation } = await change(deps, input, params.name, { ...body, entry: entryIn(body) })
  return secret<Answer<typeof invitationAnswer>>(describeInvitation(person.name, invitation, dataCentre.url))
})

/** */
export const removeUser = operation({ params: nameOf }, async (input, deps) => {
  await remove(deps, input, input.params.name)
  return done
})
