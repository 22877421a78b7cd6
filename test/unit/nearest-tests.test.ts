import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createNearestTests, isSource, isTest } from '../nearest-tests.ts'

const root = join(import.meta.dirname, '..', '..')

it('Some test is near to each source file', () => {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const nearestTests = createNearestTests(root, files, isTest)
  expect(files.filter((file) => isSource(file) && nearestTests(file).length === 0)).toEqual([])
})
