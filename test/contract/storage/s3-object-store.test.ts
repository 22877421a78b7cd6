import type { S3Client } from '@aws-sdk/client-s3'
import { createFolderRemovals } from '../../../lib/aws/dynamodb/folder-removals.ts'
import { openObjectStore, openTestBucket } from '../../support/bucket.ts'
import { unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import { honoursVersions, ordersVersions, refusesTakenPlaces } from '../../support/s3-abilities.ts'
import { type Ability, abilities } from './object-store/workbench.ts'
import { describeCopies, describeObjectStore } from './object-store.suite.ts'

type Check = (client: S3Client, bucket: string) => Promise<boolean>
const checks: readonly (readonly [Ability, Check])[] = [
  ['comparesVersions', honoursVersions],
  ['refusesTaken', refusesTakenPlaces],
  ['ordersVersions', ordersVersions],
]

const open = async (largestCopy?: number) => {
  const { bucket, connect, leftovers } = await openTestBucket()
  const client = connect()
  const lacks: Ability[] = []
  for (const [ability, isSupported] of checks) {
    if (await isSupported(client, bucket)) continue
    lacks.push(ability)
    console.warn(`\nSome cases are SKIPPED, because ${abilities[ability]}.\n`)
  }
  const tables = openMemoryTables()
  const { pathLocks: table } = tables.names
  const removals = createFolderRemovals({ dynamodb: tables.connect(), table, record: unrecorded })
  return {
    lacks,
    removals,
    store: openObjectStore({ bucket, connect }, { client, removals, largestCopy }),
    leftovers,
    close: async () => client.destroy(),
  }
}

describeObjectStore('The object store in S3', () => open())
describeCopies('The object store in S3, with copies in parts', () => open(0))
