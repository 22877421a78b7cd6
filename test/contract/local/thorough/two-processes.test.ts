import { expect } from 'vitest'
import { fields, news, storage } from '../../../support/paths.ts'
import { launch } from '../../../support/program.ts'
import type { SpawnedService } from '../../../support/spawned-service.ts'
import { test } from '../../../support/test.ts'

const count = 10_000

const records = function* () {
  for (let id = 1; id <= count; id += 1) {
    yield { kind: 'news', id: 1_000 + id, subject: `News ${id}`, body: `<p>${'text '.repeat(40)}</p>` }
  }
  for (let id = 1; id <= count; id += 1) yield { kind: 'link', type: 'news', categoryId: 1, objectId: 1_000 + id }
}

/** Sends reads and changes of every kind in turn, until `isOver`. Returns the number of answers by status. */
const useService = async (service: SpawnedService, name: string, isOver: () => boolean) => {
  const statuses: Record<number, number> = {}
  for (let turn = 0; !isOver(); turn += 1) {
    const answers = [
      await service.request(fields),
      await service.request(`${news}?limit=10&cursor=`),
      await service.request(`${fields}/-2`, { method: 'PUT', body: `{"mandatory":${turn % 2 === 0}}` }),
      await service.request(`${storage}/${name}`, { method: 'PUT', body: 'x'.repeat(turn % 3 === 0 ? 20_000 : 500) }),
      await service.request(`${storage}/${name}`),
    ]
    for (const answer of answers) {
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      await answer.arrayBuffer()
    }
  }
  return statuses
}

test('a service answers beside a large import', { timeout: 120_000 }, async ({ directory, start }) => {
  const service = await start(['--port', '0', '--quiet'])
  const program = launch('admin/main.js', ['--data-dir', directory, '--json', 'import', '-', '--site', '1001'])
  let isOver = false
  const ended = program.ended.finally(() => {
    isOver = true
  })
  program.stdin.end(Array.from(records(), (record) => `${JSON.stringify(record)}\n`).join(''))
  const statuses = await Promise.all(['one', 'two', 'three'].map((name) => useService(service, name, () => isOver)))

  const { status, stdout, stderr } = await ended
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ imported: 2 * count, skipped: 0, errors: [] })
  for (const each of statuses) expect(each).toEqual({ 200: expect.any(Number) })
  const list = await service.request(`${news}?limit=1&where=${encodeURIComponent("{'news.subject':'News 7'}")}`)
  expect(await list.json()).toMatchObject({ totalItemsCount: 1 })
  expect((await service.stop()).stderr).toBe('')
})
