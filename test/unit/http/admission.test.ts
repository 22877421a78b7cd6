import { expect, test } from 'vitest'
import { hashToken } from '../../../lib/access/grants.ts'
import { systemClock } from '../../../lib/core/clock.ts'
import { unlimited } from '../../../lib/core/deadline.ts'
import { authenticate } from '../../../lib/http/admission.ts'
import { groupPolicies } from '../../../lib/http/group-policy.ts'

const token = '0123456789abcdef'.repeat(4)

/** The hashes of tokens that a request looks up. All tokens are unknown. */
const lookedUp = async (headers: Readonly<Record<string, string>>): Promise<string[]> => {
  const hashes: string[] = []
  const findGrant = async (hash: string) => {
    hashes.push(hash)
    return undefined
  }
  const deps = {
    findGrant,
    findSite: async () => undefined,
    findDataCentre: async () => undefined,
    dataCentre: 'us',
    clock: systemClock,
  }
  const body = { bytes: new Uint8Array() }
  const request = {
    id: '1',
    method: 'GET',
    path: '/',
    query: new Map(),
    headers,
    body,
    params: {},
    deadline: unlimited,
  }
  const trace = { operation: 'none', site: null, token: null, public: false }
  await expect(authenticate(deps, request, groupPolicies.fields, trace)).rejects.toMatchObject({
    status: 401,
  })
  return hashes
}

test('a token is looked up by its hash', async () => {
  expect(await lookedUp({ authorization: token })).toEqual([hashToken(token)])
  expect(await lookedUp({ authorization: `Bearer ${token}` })).toEqual([hashToken(token)])
})

test.each([undefined, '', 'x', token.slice(1), `${token}0`, token.toUpperCase()])(
  '%s cannot be an issued token, so the store is not asked',
  async (authorization) => {
    expect(await lookedUp(authorization === undefined ? {} : { authorization })).toEqual([])
  },
)
