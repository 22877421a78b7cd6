import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { checkDataDirectory } from '../../../lib/machine/check/check-directory.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { formHeaders, multipart } from '../../support/multipart.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

const files = 300
const rounds = 8

const contentOf = (index: number) =>
  String(index)
    .padEnd(8)
    .repeat(index % 3 === 0 ? 3_000 : 10)

test('kill -9 during the restore of a folder leaves all files or none', async ({ start, directory }) => {
  for (let round = 0; round < rounds; round++) {
    const service = await start()
    for (let offset = 0; offset < files; offset += 100) {
      const names = Array.from({ length: 100 }, (_, index) => offset + index)
      const body = multipart(names.map((index) => ({ name: `f${index}`, content: contentOf(index) })))
      await service.request(`${storage}/folder`, { method: 'POST', headers: formHeaders, body })
    }
    const removed = await service.request(`${storage}/folder`, { method: 'DELETE' })
    expect(removed.status).toBe(200)
    const restore = () => service.request(`${storage}/folder?restore`, { method: 'POST', body: '{}' })
    const answer = restore().then(
      ({ status }) => status,
      () => undefined,
    )
    for (let count = Math.random() * 40; count > 0; count--) await turn()
    service.kill('SIGKILL')
    await service.ended
    const wasAnswered = (await answer) === 200

    const machine = await openMachine(directory, { role: 'service', durable: false })
    const prefix = `live/${service.siteId}/folder/`
    const { objects } = await machine.stores.files.list({ prefix, folded: false, limit: 1_000 })
    await machine.close()
    const found = objects.filter(({ key }) => !key.endsWith('/')).length
    expect([0, files]).toContain(found)
    if (wasAnswered) expect(found).toBe(files)
    expect(await checkDataDirectory(directory)).toEqual([])

    const next = await start()
    const again = await next.request(`${storage}/folder?restore`, { method: 'POST', body: '{"replace": true}' })
    expect(again.status).toBe(200)
    for (const index of [0, 1, files - 1]) {
      const read = await next.request(`${storage}/folder/f${index}`)
      expect(await read.text()).toBe(contentOf(index))
    }
    await next.stop()
  }
})
