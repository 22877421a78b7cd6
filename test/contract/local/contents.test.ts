import { setImmediate as giveWay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { createTableStores } from '../../../lib/machine/machine.ts'
import { entry } from '../../support/hands.ts'
import { scratchTables } from '../../support/scratch-database.ts'
import { newsItem } from '../ports/some-content.ts'

const site = 1001 as SiteId

const openContents = () => {
  const database = scratchTables()
  return createTableStores(database).contents
}

/** Each read between two turns sees the state that a killed process would leave. */
describe('an object with a long text', () => {
  test('a new object and its long text become visible together', async () => {
    const contents = openContents()
    const creating = contents.create(site, 'news', newsItem(7), entry)
    while (!(await contents.get(site, 'news', 7))) await giveWay()
    expect(await contents.texts(site, 'news', [7])).toEqual(new Map([[7, '<p>Text 7</p>']]))
    expect(await creating).toBe(true)
  })

  test('an object and its long text are replaced together', async () => {
    const contents = openContents()
    await contents.putMany(site, 'news', [newsItem(7)], entry)
    const replacing = contents.putMany(site, 'news', [newsItem(7, { subject: 'New', body: 'New too' })], entry)
    while ((await contents.get(site, 'news', 7))?.['subject'] !== 'New') await giveWay()
    expect(await contents.texts(site, 'news', [7])).toEqual(new Map([[7, 'New too']]))
    await replacing
  })
})
