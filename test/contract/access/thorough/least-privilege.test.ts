import { hands } from '../../../support/hands.ts'
import { describeOtherRights } from '../other-rights.suite.ts'

for (const hand of hands.slice(1)) describeOtherRights(hand, { plants: true })
