import { largestPage, takeFitting } from '../../lib/core/answer-size.ts'
import type { Switches } from '../../lib/http/request.ts'
import { bodies } from './bodies.ts'

const mostItems = 500

/** `after` is the key of the last item of the previous page. Errors: accessMalformed. */
export const pageIn = async (query: Switches): Promise<{ readonly limit: number; readonly after: string }> => {
  if (!query.has('limit') && !query.has('cursor')) return { limit: mostItems, after: '' }
  const [{ validate }, { pageSwitches }] = await Promise.all([
    import('../../lib/http/validate.ts'),
    import('../../lib/contract/request-parts.ts'),
  ])
  const given = { limit: query.get('limit'), cursor: query.get('cursor') }
  const { limit = mostItems, cursor = '' } = validate(pageSwitches, given, bodies.malformed)
  return { limit: Math.min(limit, mostItems), after: Buffer.from(cursor, 'base64url').toString() }
}

/** Returns as many views as fit into an answer. `rest` begins with the items of all `views`. */
export const pageOf = <Item, View>(rest: readonly Item[], views: readonly View[], keyOf: (item: Item) => string) => {
  const count = takeFitting(views, (view) => view, largestPage).taken.length
  const last = rest[count - 1]
  const isEnd = last === undefined || count === rest.length
  return {
    views: views.slice(0, count),
    next: isEnd ? {} : { nextCursor: Buffer.from(keyOf(last)).toString('base64url') },
  }
}
