import { measureRates } from './server/rates.ts'
import { measureStart } from './server/start.ts'
import { measureWaits } from './server/waits.ts'
import type { Bench } from './table.ts'

/** The server on one machine: its rates beside a bare one's, its start, and what waits for what. */
export const server: Bench = async () => [await measureStart(), await measureRates(), await measureWaits()]
