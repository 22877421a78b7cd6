import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { measureTableCosts } from '../../../../tools/bench/costs.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')

it('An unknown bench is refused with the names of all benches', () => {
  const { status, stderr } = spawnSync(process.execPath, ['tools/bench/main.ts', 'speed'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([2, expect.stringContaining('costs')])
})

it('The costs of links and history entries are those that the documents name', async () => {
  const storeCosts = new Map(
    (await measureTableCosts()).flatMap(({ columns, rows }) =>
      rows.map((row) => [row[0], Number(row[columns.indexOf('store')])]),
    ),
  )
  expect(storeCosts.get('POST /news/1/categories')).toBe(2.5)
  expect(storeCosts.get('POST /categories/5/blogs')).toBe(2.5)
  expect(storeCosts.get('the history entry, with and without webhooks')).toBe(0.63)
})
