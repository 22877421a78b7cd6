import { expect } from 'vitest'
import { parseId, type SiteId } from '../../../lib/core/ids.ts'
import { openMachine } from '../../../lib/machine/machine.ts'
import { fileKey, parsePath, toStoragePath } from '../../../lib/storage/path.ts'
import { infoOf } from '../../support/objects.ts'
import { storage } from '../../support/paths.ts'
import { test } from '../../support/test.ts'

test('the next service completes and counts the removal of a killed service (H-6)', async ({ start, directory }) => {
  const first = await start()
  for (const name of ['a', 'b']) await first.request(`${storage}/large/${name}`, { method: 'PUT', body: 'x' })
  const { siteId } = first
  first.kill('SIGKILL')
  await first.ended

  // The state that a server leaves when it dies in the middle of a large removal: a record, a message, and a step.
  const site = parseId<SiteId>(String(siteId))
  if (site === undefined) throw new Error('The service has no site')
  const path = parsePath('large')
  const entry = { site, type: 'folder.removed', subject: path, actor: 'demo' } as const
  const { stores, close } = await openMachine(directory)
  const task = { site, path, id: 'left-over' }
  await stores.removals.open(site, path, task.id, entry)
  await stores.removalQueue.send(task, 60)
  const removed = await infoOf(stores.files, fileKey('live', site, toStoragePath('large/b')))
  await stores.files.remove([removed], { step: task })
  await close()

  const second = await start()
  await expect.poll(async () => (await second.request(`${storage}/large/a`)).status).toBe(404)
  await expect
    .poll(async () => (await second.request(`${storage}/large/b`, { method: 'PUT', body: 'x' })).status)
    .toBe(200)
  const { items } = (await (await second.request('/api/v2/admin/sites/current/changes?after=')).json()) as {
    items: { type: string }[]
  }
  const entries = items.filter(({ type }) => type === 'folder.removed')
  // The folder counts, too.
  expect(entries).toEqual([expect.objectContaining({ subject: path, details: { count: 3 } })])
})
