import { hands } from '../../support/hands.ts'
import { describeHistory } from './history.suite.ts'

for (const hand of hands) describeHistory(hand)
