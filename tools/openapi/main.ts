import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from './generate.ts'

/** `npm run openapi`: writes the files in `docs/` that are made from the code. A test tells when one of them is stale. */
const folder = join(import.meta.dirname, '..', '..', 'docs')
for (const [name, text] of Object.entries(await generate())) await writeFile(join(folder, name), text)
