import { expect } from 'vitest'
import { parseId, type SiteId } from '../../../lib/core/ids.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

test('the next service completes the removal of a killed service', async ({ start, directory }) => {
  const first = await start()
  await first.request(`${storage}/large/a`, { method: 'PUT', body: 'x' })
  const { siteId } = first
  first.kill('SIGKILL')
  await first.ended

  // The state that a server leaves when it dies in the middle of a large removal: a record and a message.
  const site = parseId<SiteId>(String(siteId))
  if (site === undefined) throw new Error('The service has no site')
  const path = parsePath('large')
  const entry = { site, type: 'folder.removed', subject: path, actor: 'demo' } as const
  const { stores, close } = await openMachine(directory)
  await stores.removals.open(site, path, 'left-over', entry)
  await stores.removalQueue.send({ site, path, id: 'left-over' }, 60)
  await close()

  const second = await start()
  await expect.poll(async () => (await second.request(`${storage}/large/a`)).status).toBe(404)
  await expect
    .poll(async () => (await second.request(`${storage}/large/b`, { method: 'PUT', body: 'x' })).status)
    .toBe(200)
})
