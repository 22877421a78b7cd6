import { hands } from '../../support/hands.ts'
import { describeUploadProgress } from './upload-progress.suite.ts'

for (const hand of hands) describeUploadProgress(hand)
