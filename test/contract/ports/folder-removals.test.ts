import { hands } from '../../support/hands.ts'
import { describeFolderRemovals } from './folder-removals.suite.ts'

for (const hand of hands) describeFolderRemovals(hand)
