import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type TableName, tables } from '../../../lib/aws/tables.ts'

export interface Call {
  readonly table: TableName
  readonly index?: string
  /** As IAM calls it. */
  readonly action: string
}

interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

interface Body {
  readonly TableName?: string
  readonly IndexName?: string
  /** Of batches: by table name. */
  readonly RequestItems?: Readonly<Record<string, unknown>>
}

/** Notes every call that goes out to the tables, which are named as the service calls them. */
export const recordCalls = (dynamodb: DynamoDBDocumentClient): readonly Call[] => {
  const calls: Call[] = []
  const isTable = (name: string): name is TableName => name in tables
  dynamodb.middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as HttpRequest
      const action = headers['x-amz-target']?.split('.')[1] ?? ''
      const { TableName, IndexName, RequestItems = {} }: Body = JSON.parse(new TextDecoder().decode(body))
      for (const table of [...(TableName ? [TableName] : []), ...Object.keys(RequestItems)]) {
        if (isTable(table)) calls.push({ table, ...(IndexName !== undefined && { index: IndexName }), action })
      }
      return next(args)
    },
    { step: 'finalizeRequest', name: 'record', priority: 'low' },
  )
  return calls
}
