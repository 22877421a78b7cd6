import { expect, test } from 'vitest'
import type { HistoryEntry } from '../../../lib/core/history-entry.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import type { History } from '../../../lib/history/history.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { describeOn, handsOfPorts, ownSite as site } from '../../support/hands.ts'

/** All entries of a site, without times and positions. */
const reported = async (history: History, site: SiteId): Promise<HistoryEntry[]> =>
  (await history.after(site, 0, 10_000)).map(({ at: _at, position: _position, ...entry }) => entry)

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describeOn({ kinds: handsOfPorts, subject: 'the history of a site' }, (hand) => {
  const { stores } = hand

  const entryOf = (type: HistoryEntry['type'], subject: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
    site,
    type,
    subject,
    actor: 'ann',
    requestId: '0b8fb6f8-8a0e-4a0c-a1a5-6f0b8e4f8a7c',
    ...more,
  })
  const started = (subject: string, more: Partial<HistoryEntry> = {}) =>
    stores.workflows.start(site, toStoragePath(subject), entryOf('workflow.created', subject, more))

  test('long entries are stored', async () => {
    const names = numbers(100).map((index) => `${index}`.padEnd(255, 'x'))
    const subject = numbers(3)
      .map(() => 'a'.repeat(250))
      .join('/')
    await started(`${subject}/a.html`, { details: { names } })
    await started('b.html')
    const [first, second] = await reported(stores.history, site)
    expect(first).toMatchObject({ subject: `${subject}/a.html`, details: { names } })
    expect(second?.subject).toBe('b.html')
  })

  test('a removed folder has one entry (H-6)', async () => {
    const { removals, history } = stores
    const folder = toStoragePath('large')
    const removed = entryOf('folder.removed', folder)
    await removals.open(site, folder, 'one', removed)
    await removals.open(site, folder, 'two', entryOf('folder.removed', 'another'))
    expect(await reported(history, site)).toEqual([])
    for (const _ of ['first', 'again']) await removals.close(site, folder, 'one', 0)
    expect(await reported(history, site)).toEqual([{ ...removed, details: { count: 0 } }])
  })
})
