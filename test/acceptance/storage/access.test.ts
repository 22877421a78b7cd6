import { expect, it } from 'vitest'
import { storage } from '../../support/paths.ts'
import { target } from '../setup/target.ts'
import { admin, issueToken, testWithAdmin } from '../support/admin.ts'
import { expectError } from '../support/expectations.ts'
import { ownSiteId } from '../support/forms.ts'
import { call } from '../support/http.ts'

const everyOperation = [
  ['POST', '/a'],
  ['POST', ''],
  ['PUT', '/a'],
  ['PUT', ''],
  ['PUT', '/a?meta'],
  ['PUT', '/a?type=folder'],
  ['GET', '/a'],
  ['GET', '/a?meta'],
  ['GET', '?status'],
  ['DELETE', '/a'],
  ['DELETE', ''],
] as const

it('A token in ?status is accepted, but a token in a header has priority (A-8, A-9)', async () => {
  const { token } = target
  for (const query of [`status=${token}`, `status=&access_token=${token}`])
    expect((await call(`${storage}?${query}`, { token: null })).status).toBe(200)
  expectError(await call(`${storage}?access_token=${token}`, { token: 'f'.repeat(64) }), 401, 101000)
})

testWithAdmin('Every operation needs the permission files: 400/104003 (A-18, E-31)', async () => {
  const token = await issueToken([await ownSiteId()])
  for (const [method, path] of everyOperation) {
    expectError(await call(storage + path, { method, token }), 400, 104003)
  }
  expect((await call(`${storage}/a`, { method: 'HEAD', token })).status).toBe(400)
})

testWithAdmin('A path with current answers 104004 if the token has two sites (A-16, E-32)', async () => {
  const { id } = await admin('site', 'create', '--name', 'Second')
  const token = await issueToken([await ownSiteId(), id], 'files')
  for (const [method, path] of everyOperation) {
    expectError(await call(storage + path, { method, token }), 400, 104004)
  }
})

it.each(['999999999', 'abc'])('Operations on the missing site %s answer 400/104023 (A-17, E-47)', async (site) => {
  for (const [method, path] of everyOperation) {
    expectError(await call(`/api/v2/admin/sites/${site}/storage${path}`, { method }), 400, 104023)
  }
})

it('Methods that storage does not support answer 405/100005 (E-8)', async () => {
  const answer = await call(`${storage}/a`, { method: 'PATCH' })
  expectError(answer, 405, 100005)
  expect(answer.headers['allow']?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'])
})
