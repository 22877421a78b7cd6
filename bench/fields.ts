import { measureHandler } from './fields/handler.ts'
import { measureStart } from './fields/start.ts'
import { measureStoreCost } from './fields/store-cost.ts'
import type { Bench } from './table.ts'

/** What the operations on web form fields cost: in time, in store capacity. */
export const fields: Bench = async () => [await measureStart(), await measureHandler(), await measureStoreCost()]
