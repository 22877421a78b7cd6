import { describe, expect, it } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { parseConditions } from '../../../lib/storage/conditions.ts'
import type { ObjectInfo } from '../../../lib/storage/object-store.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'
import { refusalOfRelocation } from '../../../lib/storage/relocate.ts'
import { refusalOf } from '../../../lib/storage/removal-rules.ts'
import { planFileRemoval } from '../../../lib/storage/remove.ts'

const site = 1001 as SiteId
const path = toStoragePath('shop/news')
const open = (folder: string, isHold = false) => ({ path: toStoragePath(folder), id: '1', isTended: true, isHold })

describe('a removal', () => {
  const seen = { path, open: [] }

  it.each([
    ['of the root', { ...seen, path: root }, 'nameRequired'],
    ['below a folder that is being removed', { ...seen, open: [open('shop')] }, 'folderLocked'],
    ['of a folder that is being restored', { ...seen, open: [open('shop/news', true)] }, 'folderLocked'],
    ['of a reserved folder', { ...seen, isReserved: true }, 'folderReserved'],
    ['of a folder that must be empty and is not', { ...seen, isNotEmpty: true }, 'folderNotEmpty'],
    ['of a page in a workflow', { ...seen, isInWorkflow: true }, 'workflowDeleted'],
    ['of a reserved folder in a workflow', { ...seen, isReserved: true, isInWorkflow: true }, 'folderReserved'],
  ])('%s is refused', (_, facts, refusal) => {
    expect(refusalOf(facts)).toBe(refusal)
  })

  it('can be repeated while its folder is being removed', () => {
    expect(refusalOf({ ...seen, open: [open('shop/news')] })).toBeUndefined()
  })

  describe('of a page with a draft', () => {
    const page = toStoragePath('shop/a.html')
    const info = (area: string): ObjectInfo => ({
      key: `${area}/1001/shop/a.html`,
      size: 1,
      modified: 0,
      version: area,
      fingerprint: null,
      contentType: 'text/html',
    })
    const found = { live: info('live'), draft: info('draft') }
    const removedBy = (draftOnly: boolean, ifMatch?: string) =>
      planFileRemoval(site, page, found, { draftOnly, conditions: parseConditions(ifMatch, undefined) }).changes

    it('takes both', () => {
      expect(removedBy(false).map(({ kind, ...change }) => [kind, 'key' in change && change.key])).toEqual([
        ['remove', 'live/1001/shop/a.html'],
        ['remove', 'draft/1001/shop/a.html'],
      ])
    })

    it('removes only the draft on request', () => {
      expect(removedBy(true)).toEqual([{ kind: 'remove', key: 'draft/1001/shop/a.html' }])
    })

    it('is refused with a tag of another state', () => {
      expect(() => removedBy(false, '"another"')).toThrow('If-Match')
    })
  })
})

describe('a move or a copy', () => {
  const seen = { changes: [], isReserved: false, isSourceInWorkflow: false, isTargetInWorkflow: false }
  const codeOf = (kind: 'move' | 'copy', target: string, facts: Partial<Parameters<typeof refusalOfRelocation>[1]>) =>
    refusalOfRelocation({ kind, site, path, target: toStoragePath(target) }, { ...seen, ...facts })?.code

  it.each([
    ['of a reserved folder', 'shop/old', { isReserved: true, isSourceInWorkflow: true }, 104020, undefined],
    ['of a page in a workflow', 'shop/old', { isSourceInWorkflow: true }, 104012, undefined],
    ['into itself', 'shop/news/old', {}, 104015, 104015],
    ['onto itself', 'shop/news', {}, undefined, 104022],
    ['onto a file', 'shop/old', { occupied: 'destinationExists' as const }, 104022, 104022],
    ['onto a page in a workflow', 'shop/old', { isTargetInWorkflow: true }, 104012, 104012],
    [
      'onto a file in a workflow',
      'shop/old',
      { occupied: 'destinationExists' as const, isTargetInWorkflow: true },
      104022,
      104022,
    ],
    [
      'to a path that is too long',
      'shop/old',
      { changes: [{ kind: 'move' as const, from: { key: '', version: '' }, key: `live/1001/${'a/'.repeat(451)}` }] },
      104015,
      104015,
    ],
  ])('%s is refused in this order', (_, target, facts, move, copy) => {
    expect([codeOf('move', target, facts), codeOf('copy', target, facts)]).toEqual([move, copy])
  })
})
