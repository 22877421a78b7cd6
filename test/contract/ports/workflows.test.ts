import { hands } from '../../support/hands.ts'
import { describeWorkflows } from './workflows.suite.ts'

for (const hand of hands) describeWorkflows(hand)
