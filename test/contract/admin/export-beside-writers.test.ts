import { expect, onTestFinished, test } from 'vitest'
import { exportRecords } from '../../../admin/commands/export.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { importInto } from '../../support/administration.ts'
import { hands } from '../../support/hands.ts'

const site = 1001 as SiteId
const emptySite = 1002 as SiteId

const news = (id: number) => ({ kind: 'news', id, subject: `News ${id}` })
const category = (id: number) => ({ kind: 'category', id, name: `Category ${id}` })
const link = (categoryId: number, objectId: number) => ({ kind: 'link', type: 'news', categoryId, objectId })

test.each(hands)('an export contains no link to content that is created meanwhile: $name', async ({ open }) => {
  const { stores, close } = await open()
  onTestFinished(close)
  await importInto(stores, site, [category(2), news(2), news(5), link(2, 2), link(2, 5)])
  const exported: object[] = []
  for await (const record of exportRecords(stores, site)) {
    exported.push(record)
    // The records come after the last object, so the export has already passed their ids.
    if ('id' in record && record.id === 5) {
      const late = [1, 3, 9].map(news)
      const links = [link(2, 1), link(2, 3), link(9, 9), link(1, 5)]
      await importInto(stores, site, [category(1), category(9), ...late, ...links])
    }
  }
  expect(await importInto(stores, emptySite, exported)).toEqual({ imported: 5, skipped: 0, errors: [] })
})
