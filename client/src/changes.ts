import type { Connection } from './connection.ts'
import type { ChangesQuery, FollowQuery } from './follow-changes.ts'
import { listChanges } from './generated/operations.gen.ts'
import type { Change } from './generated/types.gen.ts'
import { paginate } from './pages.ts'

export interface Changes {
  /** Lists all changes, the oldest first. To continue later, pass the `id` of the last change as `after`. */
  list(query?: ChangesQuery): AsyncIterable<Change>
  /**
   * Yields each change once, as it happens, and does not end. By default, begins with the next change. When the
   * connection breaks, continues after the last change. Errors: a `ServiceError` if the service refuses; the reason of
   * the signal.
   */
  follow(query?: FollowQuery): AsyncIterable<Change>
  /** Returns the newest changes, at most 500 and the oldest first. To read further back, use `page`. */
  newest(count: number, query?: Omit<ChangesQuery, 'after'>): Promise<readonly Change[]>
  /**
   * Reads a page of the changes before a given change, the newest first. Without `before`, the page begins with the
   * newest change. To read further back, pass `next` as `before`. `next` is undefined if no older changes exist. A page
   * has at most `limit` changes, by default 500.
   */
  page(query?: PageQuery): Promise<ChangesPage>
}

interface PageQuery extends Omit<ChangesQuery, 'after'> {
  readonly before?: string
  readonly limit?: number
}

export interface ChangesPage {
  /** With `types` or `subject`, a page may be empty although older changes exist. */
  readonly items: readonly Change[]
  readonly next: string | undefined
}

const largestPage = 500

/** Loads its code when it is first used, because most pages in a browser follow no changes. */
async function* follow(connection: Connection, query: FollowQuery): AsyncGenerator<Change, void> {
  const { followChanges } = await import('./follow-changes.ts')
  yield* followChanges(connection, query)
}

export const createChanges = (connection: Connection): Changes => {
  const { site, call } = connection
  const read = async ({ types, ...query }: ChangesQuery & { readonly before?: string; readonly limit: number }) => {
    const type = types?.join(',')
    return (await listChanges(call, { path: { site: site.id }, query: { ...query, ...(type && { type }) } })).data
  }
  return {
    list: ({ after = '', ...query } = {}) =>
      paginate(async (position = '') => {
        const { items, next } = await read({ ...query, after: position, limit: largestPage })
        return { items, next: next ?? undefined }
      }, after),
    async page({ before = '', limit = largestPage, ...query } = {}) {
      const { items, next } = await read({ ...query, before, limit })
      return { items, next: next ?? undefined }
    },
    follow: (query = {}) => follow(connection, query),
    newest: async (count, query = {}) => (await read({ ...query, limit: Math.min(count, largestPage) })).items,
  }
}
