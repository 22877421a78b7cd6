import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type TableName, tables } from '../../../lib/config/tables.ts'

export interface Call {
  readonly table: TableName
  readonly index?: string
  /** As IAM calls it. */
  readonly action: string
}

interface HttpRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

interface Body {
  readonly TableName?: string
  readonly IndexName?: string
  /** Of batches: by table name. */
  readonly RequestItems?: Readonly<Record<string, unknown>>
}

const isTable = (name: string): name is TableName => name in tables

/** What a request to DynamoDB does to the tables, which are named as the service calls them. */
export const callsIn = ({ headers, body }: HttpRequest): readonly Call[] => {
  const action = String(headers['x-amz-target']).split('.')[1] ?? ''
  const { TableName, IndexName, RequestItems = {} }: Body = JSON.parse(new TextDecoder().decode(body))
  return [...(TableName ? [TableName] : []), ...Object.keys(RequestItems)]
    .filter(isTable)
    .map((table) => ({ table, ...(IndexName !== undefined && { index: IndexName }), action }))
}

/** Notes every call that goes out to the tables. */
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

/** One line for each action on each table or index, so that differences can be read. */
export const linesOf = (calls: readonly Call[]): readonly string[] =>
  [...new Set(calls.map(({ table, index, action }) => `${[table, index].filter(Boolean).join('/')}: ${action}`))].sort()
