import { createPathLocks } from '../../../lib/aws/dynamodb/path-locks.ts'
import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { openTestBucket } from '../../support/bucket.ts'
import { unrecorded } from '../../support/history.ts'
import { openMemoryTables } from '../../support/memory-dynamodb.ts'
import {
  comparesWhatItChanges,
  cutsOldVersions,
  honoursVersions,
  refusesTakenPlaces,
} from '../../support/s3-abilities.ts'
import { describeCopies, describeObjectStore } from './object-store.suite.ts'

const open = async (largestCopy?: number) => {
  const { bucket, connect, leftovers } = await openTestBucket()
  const client = connect()
  const comparesVersions = await honoursVersions(client, bucket)
  if (!comparesVersions)
    console.warn('\nThis S3 deletes and copies objects whatever their version: some cases are SKIPPED.\n')
  const refusesTaken = await refusesTakenPlaces(client, bucket)
  if (!refusesTaken) console.warn('\nThis S3 copies over existing objects despite the condition: a case is SKIPPED.\n')
  const comparesWrites = await comparesWhatItChanges(client, bucket)
  if (!comparesWrites)
    console.warn('\nThis S3 writes over existing objects despite the condition: some cases are SKIPPED.\n')
  const cutsVersions = await cutsOldVersions(client, bucket)
  if (!cutsVersions) console.warn('\nThis S3 answers old versions as a whole despite the range: a case is SKIPPED.\n')
  const tables = openMemoryTables()
  const { removals } = createPathLocks({
    dynamodb: tables.connect(),
    table: tables.names.pathLocks,
    record: unrecorded,
  })
  return {
    comparesVersions,
    refusesTaken,
    comparesWrites,
    cutsVersions,
    removals,
    store: createS3ObjectStore({ client, once: connect(1), bucket, removals, record: unrecorded, largestCopy }),
    leftovers,
    async close() {
      client.destroy()
      await tables.close()
    },
  }
}

describeObjectStore('The object store in S3', () => open())
describeCopies('The object store in S3, with copies in parts', () => open(0))
