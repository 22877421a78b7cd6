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
} from './generated/sdk.gen.ts'
import type {
  CreatedKey,
  Invitation,
  Key,
  Me,
  NewKey,
  NewUser,
  PasswordChange,
  User,
  UserChange,
} from './generated/types.gen.ts'
import { paginate } from './pages.ts'

export interface People {
  list(): AsyncIterable<User>
  get(name: string): Promise<User>
  /** A new person gets an invitation: send its link to the person. */
  add(person: NewUser): Promise<Invitation>
  change(name: string, change: UserChange): Promise<Invitation>
  remove(name: string): Promise<void>
}

export interface Keys {
  list(): AsyncIterable<Key>
  /** No other answer shows the key. */
  create(key: NewKey): Promise<CreatedKey>
  revoke(id: string): Promise<void>
}

export interface Access {
  readonly people: People
  readonly keys: Keys
  /** The owner of the token, with the rights on each site. */
  me(): Promise<Me>
  changePassword(change: PasswordChange): Promise<void>
  /** Ends the session of the client, or with `all` every session of the person. */
  signOut(options?: { readonly all?: true }): Promise<void>
}

const after = (cursor: string | undefined) => (cursor === undefined ? {} : { query: { cursor } })

export const createAccess = ({ site, calls: client }: Connection): Access => {
  const common = { client, throwOnError: true } as const
  const here = { ...common, path: { site: site.id } }
  const ofUser = (user: string) => ({ ...common, path: { site: site.id, user } })
  return {
    people: {
      list: () =>
        paginate(async (cursor) => {
          const { users: items, nextCursor: next } = (await listUsers({ ...here, ...after(cursor) })).data
          return { items, next }
        }),
      get: async (name) => (await getUser(ofUser(name))).data,
      add: async (body) => (await addUser({ ...here, body })).data,
      change: async (name, body) => (await changeUser({ ...ofUser(name), body })).data,
      remove: async (name) => void (await removeUser(ofUser(name))),
    },
    keys: {
      list: () =>
        paginate(async (cursor) => {
          const { keys: items, nextCursor: next } = (await listKeys({ ...here, ...after(cursor) })).data
          return { items, next }
        }),
      create: async (body) => (await createKey({ ...here, body })).data,
      revoke: async (key) => void (await deleteKey({ ...common, path: { site: site.id, key } })),
    },
    me: async () => (await getMe(common)).data,
    changePassword: async (body) => void (await changePassword({ ...common, body })),
    signOut: async ({ all } = {}) => void (await signOut({ ...common, ...(all && { query: { all: '' } }) })),
  }
}
