import { hands } from '../../support/hands.ts'
import { describeLinksAndRemovals } from './links-and-removals.suite.ts'

for (const hand of hands) describeLinksAndRemovals(hand)
