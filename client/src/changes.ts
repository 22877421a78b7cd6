import type { Connection } from './connection.ts'
import { listChanges } from './generated/sdk.gen.ts'
import type { Change, ChangeType } from './generated/types.gen.ts'
import { through } from './pages.ts'

export interface ChangesQuery {
  /** The id of the change behind which the list begins; without it, the oldest that is kept comes first. */
  readonly after?: string
  readonly types?: readonly ChangeType[]
  /** The beginning of the subject: a path, or for example `form/1`. */
  readonly subject?: string
}

/** The history of the site. */
export interface Changes {
  /** The changes, the oldest first, until there are no more. Ask again with the `id` of the last one to go on. */
  list(query?: ChangesQuery): AsyncIterable<Change>
  /** The newest changes, up to 500, the oldest of them first. */
  newest(count: number, query?: Omit<ChangesQuery, 'after'>): Promise<readonly Change[]>
}

const largestPage = 500

export const createChanges = ({ site, calls }: Connection): Changes => {
  const read = async ({ types, ...query }: ChangesQuery & { readonly limit: number }) => {
    const type = types?.join(',')
    const path = { site: site.id }
    const { data } = await listChanges({
      client: calls,
      path,
      query: { ...query, ...(type && { type }) },
      throwOnError: true,
    })
    return data
  }
  return {
    list: ({ after = '', ...query } = {}) =>
      through(async (position = '') => {
        const { items, next } = await read({ ...query, after: position, limit: largestPage })
        return { items, next: next ?? undefined }
      }, after),
    newest: async (count, query = {}) => (await read({ ...query, limit: Math.min(count, largestPage) })).items,
  }
}
