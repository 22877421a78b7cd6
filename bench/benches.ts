import { categories } from './categories.ts'
import { fields } from './fields.ts'
import { storage } from './storage.ts'
import type { Bench } from './table.ts'

/** Every bench, by the name that `npm run bench -- <name>` knows it by. */
export const benches: Readonly<Record<string, Bench>> = { categories, fields, storage }
