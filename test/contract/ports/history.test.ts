import { expect, test } from 'vitest'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { describeOn, entry, handsOfPorts, ownSite as site } from '../../support/hands.ts'

describeOn({ kinds: handsOfPorts, subject: 'the history of a site' }, ({ stores }) => {
  const { workflows, removals, history } = stores
  const entryOf = (subject: string, details?: { readonly names: readonly string[] }) => ({
    ...entry,
    site,
    subject,
    ...(details && { details }),
  })

  test('long entries are stored', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(255, 'x'))
    const subject = `${Array(3).fill('a'.repeat(250)).join('/')}/a.html`
    await workflows.start(site, toStoragePath(subject), entryOf(subject, { names }))
    await workflows.start(site, toStoragePath('b.html'), entryOf('b.html'))
    expect(await history.after(site, 0, 10)).toMatchObject([{ subject, details: { names } }, { subject: 'b.html' }])
  })

  test('a removed folder has one entry (H-6)', async () => {
    const folder = toStoragePath('large')
    await removals.open(site, folder, 'one', entryOf(folder))
    await removals.open(site, folder, 'two', entryOf('another'))
    expect(await history.after(site, 0, 10)).toEqual([])
    for (const _ of ['first', 'again']) await removals.close(site, folder, 'one', 0)
    expect(await history.after(site, 0, 10)).toMatchObject([{ ...entryOf(folder), details: { count: 0 } }])
  })
})
