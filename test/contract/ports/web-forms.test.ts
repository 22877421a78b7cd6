import { hands } from '../../support/hands.ts'
import { describeWebForms } from './web-forms.suite.ts'

for (const hand of hands) describeWebForms(hand)
