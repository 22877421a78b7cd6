import { join } from 'node:path'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type Machine, openMachine } from '../local/machine.ts'
import { openTablesInMemory } from '../test/support/tables.ts'
import { inScratchFolder } from './scratch-folder.ts'

/** Measures on one machine, as `npm start` has it: an empty data directory, every change on the disk before it is answered unless told otherwise. */
export const onMachine = <Result>(
  run: (machine: Machine) => Promise<Result>,
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<Result> =>
  inScratchFolder(async (folder) => {
    const machine = await openMachine(join(folder, 'data'), { role: 'service', durable })
    try {
      return await run(machine)
    } finally {
      await machine.close()
    }
  })

/** Measures on empty tables of DynamoDB as dynalite has it, wherever AWS is: it tells what a request consumes, and its times mean nothing. */
export const onTables = async <Result>(
  run: (documents: DynamoDBDocumentClient) => Promise<Result>,
): Promise<Result> => {
  const { connect, close } = await openTablesInMemory()
  try {
    return await run(connect())
  } finally {
    await close()
  }
}
