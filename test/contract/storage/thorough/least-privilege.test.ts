import { describeFileRights } from '../file-rights.suite.ts'
import { storageHands } from '../hands.ts'

for (const hand of storageHands.slice(1)) describeFileRights(hand, { plants: true })
