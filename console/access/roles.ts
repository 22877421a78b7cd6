import type { User } from '../../client/src/index.ts'
import type { Rights } from '../page/rights.ts'

export type Role = NonNullable<User['role']>

/** The rights on files of an author depend on the folders. */
export const rightsOfRoles: Readonly<Record<Role, readonly string[]>> = {
  owner: ['files:write', 'forms:write', 'categories:write', 'history:write', 'access:write'],
  editor: ['files:write', 'forms:write', 'categories:write', 'history:read'],
  author: ['history:read'],
  viewer: ['files:read', 'forms:read', 'categories:read', 'history:read'],
}

const all: readonly Role[] = ['editor', 'author', 'viewer', 'owner']

/** The roles that a caller with these rights can give. */
export const grantableRoles = (rights: Rights): readonly Role[] =>
  all.filter((role) => rights.include(rightsOfRoles[role]) && (role !== 'author' || rights.has('files:write')))

interface Actions {
  readonly canChangeRole: boolean
  /** To invite somebody again, or to enable or disable somebody, a caller needs every right of the person. */
  readonly canInvite: boolean
  readonly canDisable: boolean
  readonly canRemove: boolean
}

const isOwner = ({ role, disabled }: User): boolean => role === 'owner' && !disabled

const isOnlyInvited = ({ invited, lastSignIn }: User): boolean => invited && lastSignIn === null

const isLast = (owner: User, users: readonly User[]): boolean =>
  !users.some((other) => other.name !== owner.name && isOwner(other) && (isOnlyInvited(owner) || !isOnlyInvited(other)))

/** People cannot invite, disable or remove themselves. Nobody can change the last owner. */
export const actionsOn = (user: User, users: readonly User[], rights: Rights, own: string | undefined): Actions => {
  const isOther = user.name !== own
  const isLastOwner = isOwner(user) && isLast(user, users)
  const isCovered = rights.include(user.rights)
  return {
    canChangeRole: !isLastOwner,
    canInvite: isOther && isCovered,
    canDisable: isOther && isCovered && !isLastOwner,
    canRemove: isOther && !isLastOwner,
  }
}
