import { describe, expect, test } from 'vitest'
import { hashToken, isCurrent, newToken, storedGrant } from '../../../lib/access/grants.ts'
import type { SiteId } from '../../../lib/core/ids.ts'

describe('a token', () => {
  test('a new token is 32 random bytes in hex (A-12)', () => {
    const tokens = Array.from({ length: 100 }, newToken)
    expect(tokens.every((token) => /^[0-9a-f]{64}$/.test(token))).toBe(true)
    expect(new Set(tokens).size).toBe(100)
  })

  test('a token is stored as its SHA-256 (A-12)', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })

  test('a token is valid until the second in which it expires', () => {
    const grant = { hash: '', user: 'ann', sites: [1 as SiteId], permissions: [], expires: 1_700_000_000 }
    expect(isCurrent(grant, 1_699_999_999_999)).toBe(true)
    expect(isCurrent(grant, 1_700_000_000_000)).toBe(false)
  })
})

describe('a grant from a store', () => {
  const grant = { hash: 'abc', user: 'ann', sites: [1001, 7], permissions: ['files'], expires: 1_700_000_000 }

  test('a grant is read back as it was stored', () => {
    expect(storedGrant(grant)).toEqual(grant)
    expect(storedGrant({ ...grant, sites: [], permissions: [] })).toEqual({ ...grant, sites: [], permissions: [] })
  })

  test('a stored grant whose site is not a valid id is refused', () => {
    expect(() => storedGrant({ ...grant, sites: ['all'] })).toThrow(' all ')
  })
})
