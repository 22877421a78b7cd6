import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type TableDefinition, type TableName, tables } from '../../lib/tables.ts'

export interface Units {
  read: number
  written: number
}

/** What a write to a table writes: the item, and an entry in each index, which the embedded store does not count. */
const entriesOf = (table: string): number => {
  const { indexes = {} }: TableDefinition = tables[table as TableName]
  return 1 + Object.keys(indexes).length
}

/** Has the store report the capacity that calls consume, and adds it up. */
export const meter = (documents: DynamoDBDocumentClient): Units => {
  const units: Units = { read: 0, written: 0 }
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
        const { ConsumedCapacity = [] } = result.output as { ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] }
        for (const { CapacityUnits = 0, TableName = '' } of [ConsumedCapacity].flat()) {
          if (/Write|Put|Update|Delete/.test(commandName)) units.written += CapacityUnits * entriesOf(TableName)
          else units.read += CapacityUnits
        }
        return result
      },
    { step: 'initialize', name: 'meter' },
  )
  return units
}
