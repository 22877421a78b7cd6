import { describe, expect, test } from 'vitest'
import { callerOf } from '../../../lib/access/callers.ts'
import type { Grant } from '../../../lib/access/grants.ts'
import type { Person } from '../../../lib/access/people.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { testPerson } from '../../support/people.ts'

describe('The rights of a caller', () => {
  const person = testPerson({ created: 1, sessions: 2 })
  const grant: Grant = {
    ...{ hash: 'ff', user: 'ann', sites: [1001 as SiteId], permissions: [], expires: 0 },
    ...{ kind: 'session', since: 2 },
  }
  const callerFor = (details: Partial<Grant>, present?: Person) => callerOf({ ...grant, ...details }, present)

  test('a removed, replaced, disabled or signed-out person is refused (A-61, A-71)', () => {
    expect(callerFor({}, person)).toBeDefined()
    expect(callerFor({})).toBeUndefined()
    expect(callerFor({}, { ...person, disabled: true })).toBeUndefined()
    expect(callerFor({}, { ...person, sessions: 3 })).toBeUndefined()
    expect(callerFor({ kind: 'key', since: 1 }, { ...person, created: 3 })).toBeUndefined()
    expect(callerFor({ kind: 'key', since: 1 }, { ...person, sessions: 3 })).toBeDefined()
  })
})
