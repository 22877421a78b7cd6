import { hands } from '../../support/hands.ts'
import { describeAdministration } from './administration.suite.ts'

for (const hand of hands) describeAdministration(hand)
