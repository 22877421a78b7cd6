import { createCategoriesHandler } from '../../../functions/categories/group.ts'
import { createCategoriesDeps } from '../../../lib/service/deps.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import type { Answer } from '../../../test/support/answer.ts'
import { send } from '../../../test/support/gateway.ts'

export type Ask = (
  method: string,
  path: string,
  query?: Readonly<Record<string, string>>,
  body?: string,
) => Promise<Answer>

type CategoriesStores = Pick<Stores, 'sites' | 'grants' | 'contents' | 'links'>

/** Sends requests to the operations over these stores. */
export const askOver = (stores: CategoriesStores, token: string, longestList = 1_000_000): Ask => {
  const settings = { dataCentre: 'us', longestList }
  const deps = createCategoriesDeps(settings, stores, { telemetry: { request: () => undefined } })
  // Measures reading, so nothing is cached.
  const handler = createCategoriesHandler({ ...deps, keep: (_, make) => make() })
  return (method, path, query = {}, body = '') =>
    send(handler, method, path, { headers: { Authorization: token }, query, body })
}
