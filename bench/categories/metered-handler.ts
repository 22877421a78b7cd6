import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createCategoriesHandler } from '../../functions/categories/group.ts'
import { createCategoriesDeps } from '../../lib/deps.ts'
import { embeddedTableNames } from '../../local/embedded-tables.ts'
import { type Answer, send } from '../../test/support/gateway.ts'
import { token } from './library.ts'

export interface Metered {
  readonly request: (
    method: string,
    path: string,
    query?: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<Answer>
  /** What the store reports to have been consumed since the last call of this. */
  readonly takeUnits: () => { readonly read: number; readonly written: number }
}

type Capacity = { readonly CapacityUnits?: number }

/** The handler of categories over tables that report what each call consumes. */
export const meteredHandler = (documents: DynamoDBDocumentClient, longestList: number): Metered => {
  let read = 0
  let written = 0
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
        const { ConsumedCapacity } = result.output as { ConsumedCapacity?: Capacity | Capacity[] }
        for (const { CapacityUnits = 0 } of [ConsumedCapacity ?? []].flat()) {
          if (/Write|Put|Update|Delete/.test(commandName)) written += CapacityUnits
          else read += CapacityUnits
        }
        return result
      },
    { step: 'initialize' },
  )
  const handler = createCategoriesHandler(
    createCategoriesDeps(
      {
        DATA_CENTRE: 'us',
        SITES_TABLE: embeddedTableNames.sites,
        TOKENS_TABLE: embeddedTableNames.tokens,
        CONTENT_TABLE: embeddedTableNames.content,
        CATEGORY_LINKS_TABLE: embeddedTableNames.categoryLinks,
        LONGEST_LIST: longestList,
        LOG_LEVEL: 'INFO',
      },
      { documents, telemetry: { request: () => undefined } },
    ),
  )
  return {
    request: (method, path, query = {}, body = '') =>
      send(handler, method, path, { headers: { Authorization: token }, query, body }),
    takeUnits() {
      const units = { read, written }
      read = 0
      written = 0
      return units
    },
  }
}
