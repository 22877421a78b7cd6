import { hands } from '../../support/hands.ts'
import { describeSiteDirectory } from './site-directory.suite.ts'

for (const hand of hands) describeSiteDirectory(hand)
