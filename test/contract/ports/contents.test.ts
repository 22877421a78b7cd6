import { hands } from '../../support/hands.ts'
import { describeContents } from './contents.suite.ts'

for (const hand of hands) describeContents(hand)
