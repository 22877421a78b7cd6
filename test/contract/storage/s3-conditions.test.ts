import { openObjectStore, openTestBucket } from '../../support/bucket.ts'
import { comparesWhatItChanges } from '../../support/s3-abilities.ts'
import { describeConditions } from './conditions.suite.ts'
import { openStorage } from './service.ts'

describeConditions('conditions on S3', async () => {
  const opened = await openTestBucket()
  const files = openObjectStore(opened)
  return {
    storage: await openStorage({ between: () => ({ files }) }),
    comparesWrites: await comparesWhatItChanges(opened.connect(), opened.bucket),
  }
})
