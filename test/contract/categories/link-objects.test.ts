import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type LinkRequest, linkObjects } from '../../../lib/categories/change-links.ts'
import { author } from '../../support/history.ts'
import { fill, newsOfCategory, openStore } from './store.ts'

const store = await openStore()
const deps = store.over(store.dynamodb)
afterAll(() => store.close())

const link = async (items: readonly LinkRequest[]) => {
  await linkObjects(deps, newsOfCategory, items, author)
  return deps.links.list(newsOfCategory, 0, 10)
}

describe('of several wishes for one object', () => {
  beforeEach(async () => {
    await fill(deps, [1])
    await deps.links.unlink(newsOfCategory, [1], {
      ...author,
      site: newsOfCategory.site,
      type: 'link.removed',
      subject: '',
    })
  })

  test.each([true, false])('the last one counts: %s', async (displayable) => {
    const items = [
      { objectId: 1, displayable: !displayable },
      { objectId: 1, displayable },
    ]
    expect(await link(items)).toEqual([{ id: 1, displayable }])
  })

  test('one that does not say whether it is displayable takes nothing back', async () => {
    expect(await link([{ objectId: 1, displayable: false }, { objectId: 1 }])).toEqual([{ id: 1, displayable: false }])
  })
})
