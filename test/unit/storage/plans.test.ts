import { describe, expect, it } from 'vitest'
import type { SiteId } from '../../../lib/core/ids.ts'
import { type Plan, refusalIn } from '../../../lib/storage/changes/change.ts'
import { planRelocation, type SeenRelocation } from '../../../lib/storage/changes/relocate.ts'
import { planRemoval, refusalsOfRemoval, type SeenRemoval } from '../../../lib/storage/changes/remove.ts'
import { parseConditions, refusalOf } from '../../../lib/storage/conditions.ts'
import type { Change, ObjectInfo } from '../../../lib/storage/object-store.ts'
import { root, toStoragePath } from '../../../lib/storage/path.ts'

const site = 1001 as SiteId
const path = toStoragePath('shop/news')
const open = (folder: string, isHold = false) => ({ path: toStoragePath(folder), id: '1', isTended: true, isHold })

describe('a removal', () => {
  const seen: SeenRemoval = { site, path, open: [] }
  const codeOf = (facts: SeenRemoval) => refusalIn(refusalsOfRemoval(facts))?.code

  it.each([
    ['of the root', { ...seen, path: root }, 104014],
    ['below a folder that is being removed', { ...seen, open: [open('shop')] }, 104010],
    ['of a folder that is being restored', { ...seen, open: [open('shop/news', true)] }, 104010],
    ['of a reserved folder', { ...seen, isReserved: true }, 104020],
    ['of a folder that must be empty and is not', { ...seen, isNotEmpty: true }, 104024],
    ['of a page in a workflow', { ...seen, isInWorkflow: true }, 104011],
    ['of a reserved folder in a workflow', { ...seen, isReserved: true, isInWorkflow: true }, 104020],
  ])('%s is refused', (_, facts, refusal) => {
    expect(codeOf(facts)).toBe(refusal)
  })

  it('of a folder can be repeated during its removal', () => {
    expect(codeOf({ ...seen, open: [open('shop/news')] })).toBeUndefined()
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
    const seen = { site, path: page, open: [], live: info('live'), draft: info('draft') }
    const planned = (draftOnly: boolean, facts: Partial<SeenRemoval> = {}) =>
      planRemoval({ ...seen, ...facts }, { draftOnly })

    it('takes both', () => {
      expect(planned(false)).toMatchObject({ objects: [seen.live, seen.draft] })
    })

    it('removes only the draft on request', () => {
      expect(planned(true)).toMatchObject({ objects: [seen.draft] })
    })

    it('with a condition removes only the states that it saw', () => {
      const plan = planRemoval(seen, { draftOnly: false, conditions: parseConditions('"live"', undefined) })
      expect(plan).toMatchObject({
        changes: [seen.live, seen.draft].map(({ key }) => ({ kind: 'remove', key })),
        matching: [seen.live, seen.draft].map(({ key, version }) => ({ key, version })),
      })
    })

    it('is refused with a tag of another state', () => {
      const condition = refusalOf(parseConditions('"another"', undefined), seen.live)
      expect(planned(false, { condition })).toMatchObject({ code: 100412 })
    })
  })
})

describe('a move or a copy', () => {
  const moved: Change = { kind: 'move', from: { key: '', version: '' }, key: 'live/1001/shop/old' }
  const seen = {
    ancestors: { existing: undefined, missing: [] },
    since: 0,
    isFile: false,
    changes: [moved],
    checked: { matching: [] },
  }
  const codeIn = (plan: Plan) => (plan instanceof Error ? plan.code : undefined)
  const codeOf = (kind: 'move' | 'copy', target: string, facts: Partial<SeenRelocation>) =>
    codeIn(planRelocation({ ...seen, relocation: { kind, site, path, target: toStoragePath(target) }, ...facts }))

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
      { changes: [{ ...moved, key: `live/1001/${'a/'.repeat(451)}` }] },
      104015,
      104015,
    ],
  ])('%s is refused in this order', (_, target, facts, move, copy) => {
    expect([codeOf('move', target, facts), codeOf('copy', target, facts)]).toEqual([move, copy])
  })
})
