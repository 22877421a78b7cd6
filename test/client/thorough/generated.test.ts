import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { test } from '../support/site.ts'

const room = join(import.meta.dirname, '..', '..', '..', 'client')

const readAll = async (folder: string): Promise<Record<string, string>> => {
  const texts: Record<string, string> = {}
  for (const file of globSync('**/*.ts', { cwd: folder }).sort())
    texts[file] = await readFile(join(folder, file), 'utf8')
  return texts
}

test('the committed calls match the contract document (T-37)', async ({ makeDirectory }) => {
  const fresh = join(await makeDirectory(), 'generated')
  await promisify(execFile)(process.execPath, ['generate.ts', fresh], { cwd: room })
  expect(await readAll(join(room, 'src', 'generated'))).toStrictEqual(await readAll(fresh))
})
