import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { test } from '../support/site.ts'

const execute = promisify(execFile)
const cwd = join(import.meta.dirname, '..', '..', '..', 'client')

test('the committed calls match the contract document (T-37)', async ({ makeDirectory }) => {
  const fresh = join(await makeDirectory(), 'generated')
  await execute(process.execPath, ['generate.ts', fresh], { cwd })
  const compared = execute('diff', ['--recursive', join('src', 'generated'), fresh], { cwd })
  await expect(compared).resolves.toMatchObject({ stdout: '' })
})
