import { uploadsHands } from './hands.ts'
import { describeTus } from './tus.suite.ts'

for (const { name, open } of uploadsHands) describeTus(name, open)
