import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import * as z from 'zod'
import { administerJson } from '../../../support/administration.ts'
import { fields } from '../../../support/paths.ts'
import { launch } from '../../../support/program.ts'
import type { SpawnedService } from '../../../support/spawned-service.ts'
import { test } from '../../../support/test.ts'

test('every start on a directory has the same token and site', async ({ start }) => {
  const first = await start()
  await first.stop()
  const second = await start()
  expect(second.token).toBe(first.token)
  expect(second.siteId).toBe(first.siteId)
  expect(second.webFormId).toBe(first.webFormId)
})

test('what was changed is there after a restart', async ({ start }) => {
  const first = await start()
  const created = await first.request(fields, { method: 'POST', body: '{"type":{"id":-7},"mandatory":true,"order":9}' })
  expect(created.status).toBe(201)
  expect((await first.request(`${fields}/-2`, { method: 'DELETE' })).status).toBe(200)
  await first.stop()

  const second = await start()
  expect(await (await second.request(`${fields}/-7`)).json()).toMatchObject({ mandatory: true, order: 9 })
  expect((await second.request(`${fields}/-2`)).status).toBe(404)
})

test('URLs in answers follow the service to another port', async ({ start }) => {
  await (await start()).stop()
  const { baseUrl, request } = await start()
  const uri = expect.stringMatching(new RegExp(`^${baseUrl}/`))
  expect(await (await request(`${fields}/-2`)).json()).toMatchObject({ links: [{ rel: 'self', uri }] })
})

describe('kill -9', () => {
  const writers = [11, 12, 13, 14, 15, 16]
  const field = z.object({ order: z.int() })
  const path = (form: number) => `/api/v1/admin/sites/current/webforms/${form}/fields/system/-2`

  /** The orders that a writer has sent, and that it knows to be stored. */
  interface Progress {
    sent: number
    acknowledged: number
  }

  /** Moves the one field of a form on and on, until the service is gone; tells of each acknowledged change. */
  const write = async (service: SpawnedService, form: number, progress: Progress, acknowledge: () => void) => {
    try {
      for (;;) {
        progress.sent += 1
        const { status } = await service.request(path(form), { method: 'PUT', body: `{"order":${progress.sent}}` })
        if (status !== 200) throw new Error(`The change was answered ${status}`)
        progress.acknowledged = progress.sent
        acknowledge()
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }

  test('at any moment loses no change that was acknowledged', async ({ start, directory }) => {
    const records = writers.flatMap((form) => [
      { kind: 'webForm', id: form },
      { kind: 'field', webFormId: form, typeId: -2, order: 1 },
    ])
    await (await start()).stop()
    await administerJson(directory, ['import', '-', '--site', '1001'], JSON.stringify(records))
    const progresses = new Map(writers.map((form) => [form, { sent: 1, acknowledged: 1 }]))

    for (let round = 0; round < 4; round++) {
      const service = await start()
      let changesLeft = 1 + Math.floor(Math.random() * 150)
      const acknowledge = () => {
        changesLeft -= 1
        // From here on the writers go on sending: the kill comes somewhere in the middle of their next changes.
        if (changesLeft === 0) service.kill('SIGKILL')
      }
      await Promise.all([...progresses].map(([form, progress]) => write(service, form, progress, acknowledge)))
      expect(await service.ended).toMatchObject({ signal: 'SIGKILL' })

      const survivor = await start()
      for (const [form, progress] of progresses) {
        const { order } = field.parse(await (await survivor.request(path(form))).json())
        expect([progress.acknowledged, progress.sent]).toContain(order)
        progress.sent = order
        progress.acknowledged = order
      }
      await survivor.stop()
    }
  })

  test.for(['site-admin.json', 'site-admin.db', 'running', 'demo.json'])(
    'as soon as the first start has made %s leaves a directory that the next start completes',
    async (file, { start, directory }) => {
      const first = launch('local/main.js', ['--port', '0', '--data-dir', directory])
      while (!existsSync(join(directory, file))) await turn()
      first.kill('SIGKILL')
      await first.ended
      for (let restart = 0; restart < 2; restart++) {
        const service = await start()
        expect((await service.request(fields)).status).toBe(200)
        await service.stop()
      }
    },
  )
})
