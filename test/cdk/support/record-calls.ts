import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type TableName, tables } from '../../../lib/config/tables.ts'

export interface Call {
  readonly table: TableName
  readonly index?: string
  /** The name of the action in IAM. */
  readonly action: string
}

interface HttpRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

interface Body {
  readonly TableName?: string
  readonly IndexName?: string
  /** In batches: the requests by table name. */
  readonly RequestItems?: Readonly<Record<string, unknown>>
}

const isTable = (name: string): name is TableName => name in tables

/** The actions of a request to DynamoDB, with the service's names of the tables. */
export const callsIn = ({ headers, body }: HttpRequest): readonly Call[] => {
  const action = String(headers['x-amz-target']).split('.')[1] ?? ''
  const { TableName, IndexName, RequestItems = {} }: Body = JSON.parse(new TextDecoder().decode(body))
  return [...(TableName ? [TableName] : []), ...Object.keys(RequestItems)]
    .filter(isTable)
    .map((table) => ({ table, ...(IndexName !== undefined && { index: IndexName }), action }))
}

/** Records every call to the tables. */
export const recordCalls = (dynamodb: DynamoDBDocumentClient): readonly Call[] => {
  const calls: Call[] = []
  dynamodb.middlewareStack.add(
    (next) => (args) => {
      calls.push(...callsIn(args.request as HttpRequest))
      return next(args)
    },
    { step: 'finalizeRequest', name: 'record', priority: 'low' },
  )
  return calls
}

/** One readable line for each action on a table or an index. */
export const linesOf = (calls: readonly Call[]): readonly string[] =>
  [...new Set(calls.map(({ table, index, action }) => `${[table, index].filter(Boolean).join('/')}: ${action}`))].sort()
