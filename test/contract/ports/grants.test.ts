import { hands } from '../../support/hands.ts'
import { describeGrants } from './grants.suite.ts'

for (const hand of hands) describeGrants(hand)
