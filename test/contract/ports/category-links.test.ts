import { hands } from '../../support/hands.ts'
import { describeCategoryLinks } from './category-links.suite.ts'
import { describeObjectLinks } from './object-links.suite.ts'

for (const hand of hands) {
  describeCategoryLinks(hand)
  describeObjectLinks(hand)
}
