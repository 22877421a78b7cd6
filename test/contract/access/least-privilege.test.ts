import { oneMachine } from '../../support/hands.ts'
import { describeOtherRights } from './other-rights.suite.ts'

// thorough/least-privilege.test.ts does the same on AWS, and ../least-privilege.test.ts tries the operations on files.
describeOtherRights(oneMachine)
