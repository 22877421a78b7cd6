import type { IncomingMessage } from 'node:http'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type TableName, tables } from '../../../lib/config/tables.ts'
import { aroundCommands } from '../../support/store-faults.ts'

export interface Call {
  readonly table: TableName
  readonly index?: string
  /** The name of the action in IAM. */
  readonly action: string
}

interface Body {
  readonly TableName?: string
  readonly IndexName?: string
  /** In batches: the requests by table name. */
  readonly RequestItems?: Readonly<Record<string, unknown>>
}

const isTable = (name: string): name is TableName => name in tables

const callsOf = (action: string, { TableName, IndexName, RequestItems = {} }: Body): readonly Call[] =>
  [...(TableName ? [TableName] : []), ...Object.keys(RequestItems)]
    .filter(isTable)
    .map((table) => ({ table, ...(IndexName !== undefined && { index: IndexName }), action }))

/** The actions of a request to DynamoDB, with the service's names of the tables. */
export const callsIn = ({
  headers,
  body,
}: Pick<IncomingMessage, 'headers'> & { readonly body: Buffer }): readonly Call[] =>
  callsOf(String(headers['x-amz-target']).split('.')[1] ?? '', JSON.parse(body.toString()))

export const recordCalls = (dynamodb: DynamoDBDocumentClient): readonly Call[] => {
  const calls: Call[] = []
  aroundCommands(dynamodb, 'call', (send, { name, input }) => {
    calls.push(...callsOf(name.replace(/Command$/, ''), input as Body))
    return send()
  })
  return calls
}

/** One readable line for each action on a table or an index. */
export const linesOf = (calls: readonly Call[]): readonly string[] =>
  [...new Set(calls.map(({ table, index, action }) => `${[table, index].filter(Boolean).join('/')}: ${action}`))].sort()
