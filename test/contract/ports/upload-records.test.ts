import { hands } from '../../support/hands.ts'
import { describeUploadRecords } from './upload-records.suite.ts'

for (const hand of hands) describeUploadRecords(hand)
