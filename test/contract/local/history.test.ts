import { expect, test } from 'vitest'
import { issueGrant } from '../../../lib/access/grants.ts'
import { roles } from '../../../lib/access/people.ts'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { systemClock } from '../../../lib/core/time.ts'
import { changesAfter } from '../../../lib/history/history.ts'
import { createTableStores } from '../../../lib/machine/machine.ts'
import { createChangeWatch, createHistory, createRecorder } from '../../../lib/machine/tables/history.ts'
import { createSweeps } from '../../../lib/machine/tables/sweeps.ts'
import { scratchFile, scratchTables } from '../../support/scratch-database.ts'

const site = 1 as SiteId
const day = 24 * 3600 * 1000
const now = Date.UTC(2026, 10, 22)

const entryOf = (subject: string): HistoryEntry => ({ site, type: 'form.created', subject, actor: 'ann' })

test('the history has an entry for each change that was made, and for no other (H-9)', async () => {
  const database = scratchTables()
  const { webForms, history } = createTableStores(database)
  const form = { site, id: 1 as WebFormId, name: 'Form', fields: [] }
  // Fails in the middle of the transaction, as on a full disk.
  database.connection.exec("CREATE TRIGGER full BEFORE INSERT ON changes BEGIN SELECT raise(ABORT, 'full'); END")
  await expect(webForms.create(form, entryOf('form/1'))).rejects.toThrow('full')
  expect(await webForms.get(site, form.id)).toBeUndefined()
  database.connection.exec('DROP TRIGGER full')
  expect(await webForms.create(form, entryOf('form/1'))).toBe(true)
  expect(await history.after(site, 0, 10)).toMatchObject([entryOf('form/1')])
})

test('a watcher is called only when another connection writes an entry (V-18)', async () => {
  const file = scratchFile()
  const [database, other] = [scratchTables(file, { durable: true }), createHistory(scratchTables(file))]
  const watch = createChangeWatch(database)
  const record = createRecorder(database.connection, () => now, watch)
  const heard: string[] = []
  const end = watch.watch(site, () => {
    heard.push(database.connection.isTransaction ? 'too early' : 'in time')
  })
  watch.watch(2 as SiteId, () => void heard.push('other site'))
  await database.write(() => record(entryOf('one')))
  expect([heard, await other.after(site, 0, 10)]).toMatchObject([['in time'], [entryOf('one')]])
  end()
  await database.write(() => record(entryOf('two')))
  expect(heard).toEqual(['in time'])
})

const sweep = (database: Parameters<typeof createSweeps>[0]) =>
  Promise.allSettled(createSweeps(database, () => now, day).map((sweepTable) => sweepTable()))

test('entries are removed after 90 days, and newer ones stay (H-8)', async () => {
  const database = scratchTables()
  const at = (moment: number) => createRecorder(database.connection, () => moment)
  await database.write(() => {
    // This is more than the number of entries that one transaction removes.
    for (let index = 0; index < 4_100; index++) at(now - 91 * day)(entryOf(`old ${index}`))
    at(now - 90 * day + 1)(entryOf('kept'))
    at(now)(entryOf('new'))
  })
  await sweep(database)
  const subjects = async () => {
    const { changes } = await changesAfter(createHistory(database), site, 0, 10, { rights: roles.owner.rights })
    return changes.map(({ subject }) => subject)
  }
  expect(await subjects()).toEqual(['kept', 'new'])
})

test('expired tokens and progress are removed, and others stay (A-12, A-97)', async () => {
  const database = scratchTables()
  const { grants, accessValues } = createTableStores(database)
  for (const seconds of [-1, 1]) {
    await issueGrant(grants, { user: 'ann', sites: [site], permissions: [], expires: now / 1000 + seconds })
    await accessValues.put(`used/${seconds}`, 'ann', now / 1000 + seconds)
    const clock = { ...systemClock, wall: () => now - day + seconds }
    await createTableStores(database, clock).progress.begin({ token: `token ${seconds}`, id: 'upload' }, 50)
  }
  await sweep(database)
  expect(await grants.list()).toMatchObject([{ expires: now / 1000 + 1 }])
  const values = database.connection.prepare('SELECT key FROM access_values').all()
  expect(values).toMatchObject([{ key: 'used/1' }])
  const uploads = database.connection.prepare('SELECT token FROM upload_progress').all()
  expect(uploads).toMatchObject([{ token: 'token 1' }])
})

test('if the expired rows of one table stay, those of the others are still removed', async () => {
  const database = scratchTables()
  const { grants, accessValues } = createTableStores(database)
  await issueGrant(grants, { user: 'ann', sites: [site], permissions: [], expires: now / 1000 - 1 })
  await accessValues.put('used', 'ann', now / 1000 - 1)
  database.connection.exec("CREATE TRIGGER fails BEFORE DELETE ON grants BEGIN SELECT raise(ABORT, 'full'); END")
  await sweep(database)
  expect(database.connection.prepare('SELECT key FROM access_values').all()).toEqual([])
})

test('positions grow even if the clock is set back, or a backup is restored', async () => {
  const file = scratchFile()
  const database = scratchTables(file)
  const moments = [now, now - day, now, now + 1, now - day]
  await database.write(() => {
    for (const moment of moments) createRecorder(database.connection, () => moment)(entryOf('form'))
  })
  const positions = (await createHistory(database).after(site, 0, 10)).map(({ position }) => position)
  expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b))
  expect(positions[0]).toBe(now * 1000)
  expect(positions[3]).toBe((now + 1) * 1000)
  // After the backup, a reader saw positions of newer entries. A restored backup must not use these positions again.
  await database.write(() => void database.connection.exec(`DELETE FROM changes WHERE id > ${now * 1000}`))
  await database.write(() => createRecorder(database.connection, () => now + 2)(entryOf('form')))
  const [, after] = await createHistory(database).after(site, 0, 10)
  expect(after?.position).toBeGreaterThan(positions.at(-1) ?? 0)
})
