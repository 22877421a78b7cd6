import { describe, expect, test } from 'vitest'
import { callerOf, rightsOn } from '../../../lib/access/callers.ts'
import type { Grant } from '../../../lib/access/grants.ts'
import { isPersonName, type Person } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { textOfRight } from '../../../lib/core/rights.ts'
import { testPerson } from '../../support/people.ts'

const site = 1001 as SiteId
const other = 1002 as SiteId

describe('A name of a person', () => {
  test.each(['a', 'Ann.Lee-1_2@example.com+x', 'x'.repeat(64), '...', 'users'])('a name may be %s (A-52)', (name) => {
    expect(isPersonName(name)).toBe(true)
  })

  test.each([
    '',
    'x'.repeat(65),
    'a b',
    'a/b',
    'änn',
    '\u0430nn',
    'ann\n',
    'ann\u200b',
    'Storage',
    'uploads',
    'changes',
    '.',
    '..',
  ])('a name may not be %j (A-52)', (name) => {
    expect(isPersonName(name)).toBe(false)
  })
})

describe('The rights of a caller', () => {
  const sites = {
    [site]: { role: 'author', folders: ['/news'] },
    [other]: { rights: ['forms:read', 'nonsense'] },
  } as Person['sites']
  const person = testPerson({ sites, created: 1, sessions: 2 })
  const grant = (details: Partial<Grant>): Grant => ({
    hash: 'ff',
    user: 'ann',
    sites: [site, other, 1003 as SiteId],
    permissions: [],
    expires: 0,
    kind: 'session',
    since: 2,
    ...details,
  })
  const rightsOf = (details: Partial<Grant>, present: Person | undefined = person) => {
    const caller = callerOf(grant(details), present)
    return caller && [site, other, 1003 as SiteId].map((one) => rightsOn(caller, one).map(textOfRight))
  }

  test('a caller has the current rights of the person on each site (A-61, A-67, A-110)', () => {
    expect(rightsOf({})).toEqual([['files:write:/news', 'history:read'], ['forms:read'], []])
    expect(callerOf(grant({}), person)?.sites).toEqual([site, other])
    expect(rightsOf({ sites: [other] })).toEqual([[], ['forms:read'], []])
  })

  test('a key has only the rights that its person has too (A-89)', () => {
    const key = (...permissions: readonly string[]) => rightsOf({ kind: 'key', since: 1, permissions })
    expect(key('files:write', 'forms:write')).toEqual([['files:write:/news'], ['forms:read'], []])
    expect(key('files:read:/news/today', 'files:write:/new')).toEqual([['files:read:/news/today'], [], []])
    expect(key()).toEqual([[], [], []])
  })

  test('a removed, replaced, disabled or signed-out person is refused (A-61, A-71)', () => {
    expect(callerOf(grant({}), undefined)).toBeUndefined()
    expect(rightsOf({}, { ...person, disabled: true })).toBeUndefined()
    expect(rightsOf({}, { ...person, sessions: 3 })).toBeUndefined()
    expect(rightsOf({ kind: 'key', since: 1 }, { ...person, created: 3 })).toBeUndefined()
    expect(rightsOf({ kind: 'key', since: 1 }, { ...person, sessions: 3 })).toBeDefined()
  })
})
