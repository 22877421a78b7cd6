import { bundles } from './bundles.ts'
import { categories } from './categories.ts'
import { costs } from './costs.ts'
import { fields } from './fields.ts'
import { server } from './server.ts'
import { storage } from './storage.ts'
import type { Bench } from './table.ts'

/** Every bench, by the name that `npm run bench -- <name>` knows it by. */
export const benches: Readonly<Record<string, Bench>> = { bundles, categories, costs, fields, server, storage }
