import { createS3ObjectStore } from '../../../lib/aws/s3/s3-object-store.ts'
import { noRemovals, openTestBucket } from '../../support/bucket.ts'
import { unrecorded } from '../../support/history.ts'
import { comparesWhatItChanges } from '../../support/s3-abilities.ts'
import { describeConditions } from './conditions.suite.ts'
import { openStorage } from './service.ts'

describeConditions('conditions on S3', async () => {
  const { connect, bucket } = await openTestBucket()
  const client = connect()
  const files = createS3ObjectStore({ client, once: connect(1), bucket, removals: noRemovals, record: unrecorded })
  return {
    storage: await openStorage({ between: () => ({ files }) }),
    comparesWrites: await comparesWhatItChanges(client, bucket),
  }
})
