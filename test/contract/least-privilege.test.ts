import { expect, test } from 'vitest'
import { routes } from '../../lib/contract/routes/routes.ts'
import { storageRoutes } from '../../lib/contract/routes/storage.ts'
import { storageContract } from '../../lib/contract/storage/contract.ts'
import type { Area } from '../../lib/core/rights.ts'
import type { Route } from '../../lib/http/router.ts'
import { acts } from './storage/acts.ts'
import { describeFileRights } from './storage/file-rights.suite.ts'
import { storageHands } from './storage/hands.ts'

/** The area that the path of an operation belongs to. */
const areaIn = ({ path }: Route): Area => {
  if (path.endsWith('/changes')) return 'history'
  if (/\/(?:users|keys|webhooks)\b/.test(path)) return 'access'
  if (/\/(?:storage|uploads)\b/.test(path)) return 'files'
  return path.includes('/v1/') ? 'forms' : 'categories'
}

const guarded = (routes as readonly Route[]).filter(({ path }) => path.includes('{site}'))

test('a read needs a right of the area, and a change needs a right to write (A-34)', () => {
  // HEAD of an upload may complete the upload. GET of an upload answers addresses at which its bytes can be stored.
  const isChange = ({ method, path }: Route) =>
    /\/(?:\{upload\}|keys)$|\/webhooks\b/.test(path) || (method !== 'GET' && !path.endsWith('/changes'))
  const needed = guarded.map(({ operation, right }) => [operation, right])
  expect(needed).toEqual(
    guarded.map((route) => [route.operation, `${areaIn(route)}:${isChange(route) ? 'write' : 'read'}`]),
  )
})

test('the table of rights on files has every switch that needs no value', () => {
  const switches = storageRoutes.flatMap(({ operation }) =>
    Object.entries(storageContract.operations[operation].query ?? {})
      .filter(([, { description }]) => description.includes('needs no value'))
      .map(([name]) => `${operation} ?${name}`),
  )
  const tried = storageRoutes.flatMap(({ operation }) =>
    Object.values(acts[operation]).flatMap(({ question }) => {
      const { query = {} } = question('', '', undefined as never)
      return Object.keys(query).map((name) => `${operation} ?${name}`)
    }),
  )
  expect(switches).toContain('uploadToFolder ?restore')
  expect(tried).toEqual(expect.arrayContaining(switches))
})

// storage/thorough/least-privilege.test.ts does the same on AWS, and access/least-privilege.test.ts tries the other
// operations.
for (const hand of storageHands.slice(0, 1)) describeFileRights(hand)
