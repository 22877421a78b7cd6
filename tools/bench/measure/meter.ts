import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type TableDefinition, type TableName, tables } from '../../../lib/config/tables.ts'

export interface Consumed {
  readonly reads: number
  readonly readUnits: number
  readonly writes: number
  readonly writeUnits: number
}

const nothing: Consumed = { reads: 0, readUnits: 0, writes: 0, writeUnits: 0 }

// A write stores the item and an entry in each index. Dynalite does not count the entries in indexes.
const entriesOf = (table: string): number => {
  const { indexes = {} }: TableDefinition = tables[table as TableName]
  return 1 + Object.keys(indexes).length
}

const unitsOf = (capacities: readonly ConsumedCapacity[], entries: (table: string) => number): number =>
  capacities.reduce((sum, { CapacityUnits = 0, TableName = '' }) => sum + CapacityUnits * entries(TableName), 0)

/** Makes the client report consumed capacity. The returned function gives the capacity since its last call. */
export const meter = (dynamodb: DynamoDBDocumentClient): (() => Consumed) => {
  let consumed = nothing
  dynamodb.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
        const { ConsumedCapacity = [] } = result.output as { ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] }
        const capacities = [ConsumedCapacity].flat()
        const { reads, readUnits, writes, writeUnits } = consumed
        consumed = /Write|Put|Update|Delete/.test(commandName)
          ? { ...consumed, writes: writes + 1, writeUnits: writeUnits + unitsOf(capacities, entriesOf) }
          : { ...consumed, reads: reads + 1, readUnits: readUnits + unitsOf(capacities, () => 1) }
        return result
      },
    { step: 'initialize', name: 'meter' },
  )
  return () => {
    const taken = consumed
    consumed = nothing
    return taken
  }
}
