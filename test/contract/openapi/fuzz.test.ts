import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lacking } from '../../../tools/fuzz/tally.ts'

const root = join(import.meta.dirname, '..', '..', '..')

it('A fuzz run names each operation with input that got too few requests', () => {
  const query = [{ name: 'limit', in: 'query' }]
  const paths = {
    '/few': { get: { parameters: query } },
    '/enough': { get: { parameters: query } },
    '/none': { post: { parameters: [], requestBody: {} } },
    '/without-input': { get: { parameters: [] } },
  }
  const tally = { 'GET /few': { examples: 9, statuses: {} }, 'GET /enough': { examples: 10, statuses: {} } }
  expect(lacking({ paths }, tally, 10)).toEqual(['GET /few', 'POST /none'])
})

it('A fuzz run without requests is refused', () => {
  const args = ['tools/fuzz/main.ts', '--examples', '0']
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, expect.stringContaining('It must be a number above 0.')])
})
