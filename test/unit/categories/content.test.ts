import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentSchema } from '../../../lib/categories/content-schema.ts'
import { contentMembers, withDefaults } from '../../../lib/core/content-kinds.ts'

const now = Date.UTC(2026, 0, 31, 12)
const kinds = ['category', 'news', 'blog'] as const

describe('imported content', () => {
  test.each(kinds)('an imported %s has every member, whatever the record contains', (kind) => {
    const members = Object.keys(contentMembers[kind]).filter((name) => name !== 'siteId')
    const content = withDefaults(kind, contentSchema(kind).parse({ id: 7 }), now)
    expect(Object.keys(content).sort()).toEqual(members.sort())
    expect(Object.values(content)).not.toContain(undefined)
    expect(contentSchema(kind).parse(content)).toEqual(content)
  })

  test('given values are kept, including null', () => {
    const given = { id: 7, subject: 'Summer', weight: null, releaseDate: '2025-06-01T00:00:00', displayable: false }
    expect(withDefaults('news', given, now)).toMatchObject(given)
  })

  test('missing values are derived from the given values', () => {
    const given = { id: 7, subject: 'Ça va? Über-Größe!', createDate: '2025-06-01T00:00:00', createBy: 3 }
    expect(withDefaults('news', given, now)).toMatchObject({
      slug: 'ca-va-uber-gro-e',
      url: '/news/ca-va-uber-gro-e',
      releaseDate: '2025-06-01T00:00:00',
      lastUpdateBy: 3,
    })
    expect(withDefaults('news', { id: 7, subject: '日本' }, now)).toMatchObject({
      slug: '7',
      createDate: '2026-01-31T12:00:00',
    })
    expect(withDefaults('blog', { id: 7, blogName: 'Notes' }, now)).toMatchObject({ title: 'Notes' })
  })

  test('the slug of imported content is safe in a URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (subject) => {
        expect(withDefaults('news', { id: 7, subject }, now)['slug']).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      }),
    )
  })

  test.each([
    ['a date with a zone', { releaseDate: '2026-01-31T12:00:00+02:00' }, { releaseDate: '2026-01-31T10:00:00' }],
    ['a day', { releaseDate: '2026-01-31' }, { releaseDate: '2026-01-31T00:00:00' }],
    ['a fraction of a second', { releaseDate: '2026-01-31T12:00:00.5Z' }, { releaseDate: '2026-01-31T12:00:00' }],
    ['the longest text', { body: 'x'.repeat(350_000) }, {}],
    ['the smallest and the largest number', { weight: -2_147_483_648, roleId: 2_147_483_647 }, {}],
    ['the site of its origin', { siteId: 4711 }, {}],
  ])('an import accepts %s', (_, given, expected) => {
    expect(contentSchema('news').parse({ id: 7, ...given })).toMatchObject(expected)
  })

  test.each([
    ['an id that is too large', { id: 2_147_483_648 }],
    ['a number that is too small', { weight: -2_147_483_649 }],
    ['an invalid date', { releaseDate: '2026-02-30' }],
    ['null for a member that must have a value', { subject: null }],
    ['a number for a boolean', { enabled: 1 }],
    ['a string that is too long', { subject: 'x'.repeat(501) }],
    ['a text with too many bytes', { body: 'ä'.repeat(175_001) }],
  ])('an import refuses %s', (_, given) => {
    expect(contentSchema('news').safeParse({ id: 7, ...given }).success).toBe(false)
  })
})
