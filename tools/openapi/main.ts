import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from './generate.ts'

const folder = join(import.meta.dirname, '..', '..', 'docs')
for (const [name, text] of Object.entries(await generate())) await writeFile(join(folder, name), text)
