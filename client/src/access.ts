import type { Connection } from './connection.ts'
import {
  addUser,
  changePassword,
  changeUser,
  createKey,
  deleteKey,
  getMe,
  getUser,
  listKeys,
  listUsers,
  removeUser,
  signOut,
} from './generated/operations.gen.ts'
import type {
  CreatedKey,
  Invitation,
  Key,
  KeyCreation,
  Me,
  PasswordChange,
  User,
  UserChange,
  UserCreation,
} from './generated/types.gen.ts'
import { withTag } from './operation.ts'
import { paginate } from './pages.ts'

export interface ReadUser extends User {
  readonly etag: string
}

/** The change applies only to the state with this tag. Without a tag, it applies to any state. */
export interface UserCondition {
  readonly etag?: string
}

export interface People {
  list(): AsyncIterable<User>
  get(name: string): Promise<ReadUser>
  /** A new person gets an invitation: send its link to the person. */
  add(person: UserCreation): Promise<Invitation>
  change(name: string, change: UserChange, condition?: UserCondition): Promise<Invitation>
  remove(name: string): Promise<void>
}

export interface Keys {
  list(): AsyncIterable<Key>
  /** Only this answer contains the text of the key. */
  create(key: KeyCreation): Promise<CreatedKey>
  revoke(id: string): Promise<void>
}

export interface Access {
  readonly people: People
  readonly keys: Keys
  /** The owner of the token, with the rights on each site. */
  me(): Promise<Me>
  changePassword(change: PasswordChange): Promise<void>
  /** Ends the session of this token. With `all`, ends every session of the person. */
  signOut(options?: { readonly all?: true }): Promise<void>
}

const after = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor })

export const createAccess = ({ site: { id: site }, call }: Connection): Access => ({
  people: {
    list: () =>
      paginate(async (cursor) => {
        const { users: items, nextCursor: next } = (await listUsers(call, { path: { site }, query: after(cursor) }))
          .data
        return { items, next }
      }),
    get: async (user) => withTag(await getUser(call, { path: { site, user } })),
    add: async (body) => (await addUser(call, { path: { site }, body })).data,
    change: async (user, body, { etag = '*' } = {}) =>
      (await changeUser(call, { path: { site, user }, headers: { 'If-Match': etag }, body })).data,
    remove: async (user) => void (await removeUser(call, { path: { site, user } })),
  },
  keys: {
    list: () =>
      paginate(async (cursor) => {
        const { keys: items, nextCursor: next } = (await listKeys(call, { path: { site }, query: after(cursor) })).data
        return { items, next }
      }),
    create: async (body) => (await createKey(call, { path: { site }, body })).data,
    revoke: async (key) => void (await deleteKey(call, { path: { site, key } })),
  },
  me: async () => (await getMe(call, {})).data,
  changePassword: async (body) => void (await changePassword(call, { body })),
  signOut: async ({ all } = {}) => void (await signOut(call, { query: all ? { all: '' } : {} })),
})
