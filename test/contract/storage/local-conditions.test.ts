import { describeConditions } from './conditions.suite.ts'
import { openStorage } from './service.ts'

describeConditions('conditions on one machine', async () => ({ storage: await openStorage(), comparesWrites: true }))
