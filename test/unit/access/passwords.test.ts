import { argon2Sync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkPassword, faultOfPassword, hashPassword } from '../../../lib/access/passwords.ts'

const good = 'correct horse battery'

/** A hash of a cost that new hashes do not have. */
const hashWith = (password: string, memory: number, passes: number) => {
  const nonce = Buffer.from('0123456789abcdef')
  const tag = argon2Sync('argon2id', { message: password, nonce, memory, passes, parallelism: 1, tagLength: 32 })
  const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${base64(nonce)}$${base64(tag)}`
}

describe('the hash of a password', () => {
  test('is a PHC string of argon2id with 19 MiB and two passes, each with its own salt (A-55)', async () => {
    const [first, second] = [await hashPassword(good), await hashPassword(good)]
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(first).not.toBe(second)
    expect(first).not.toContain(good)
  })

  test('knows its password, in every form of Unicode, and no other (A-54)', async () => {
    const hash = await hashPassword('caf\u00e9 au lait, s\u2019il vous pla\u00eet')
    expect(await checkPassword('cafe\u0301 au lait, s\u2019il vous plai\u0302t', hash)).toBe('right')
    expect(await checkPassword('Cafe\u0301 au lait, s\u2019il vous plai\u0302t', hash)).toBe('wrong')
    expect(await checkPassword('', hash)).toBe('wrong')
  })

  test('is outdated when its cost is another (A-55)', async () => {
    expect(await checkPassword(good, hashWith(good, 19_456, 2))).toBe('right')
    expect(await checkPassword(good, hashWith(good, 8_192, 2))).toBe('outdated')
    expect(await checkPassword(good, hashWith(good, 19_456, 1))).toBe('outdated')
    expect(await checkPassword(`${good}!`, hashWith(good, 8_192, 2))).toBe('wrong')
  })

  test.each([undefined, '', 'plain', '$argon2i$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$'])(
    'is never matched by %s',
    async (hash) => expect(await checkPassword(good, hash)).toBe('wrong'),
  )

  test('is refused as unavailable when 52 others are on their way, and works afterwards', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => checkPassword(good, undefined)))
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(failures).toHaveLength(8)
    for (const failure of failures) expect(failure).toMatchObject({ status: 503 })
    expect(await checkPassword(good, await hashPassword(good))).toBe('right')
  })
})

describe('a new password', () => {
  test.each([
    ['12 characters', 'twelve chars', undefined],
    ['11 characters', 'eleven char', 'too short'],
    ['12 emoji', '\u{1f511}'.repeat(12), undefined],
    ['256 emoji', '\u{1f511}'.repeat(256), undefined],
    ['257 characters', 'x'.repeat(257), 'too long'],
    ['12 letters that NFC joins', 'e\u0301'.repeat(11), 'too short'],
    ['the name of the person in another case', 'xxANNA.BELLxx', '"anna.bell"'],
    ['the name of the site', 'My own Z\u00d6E\u2019S shop!', '"z\u00f6e\u2019s shop"'],
  ])('with %s is judged by its length and the names (A-54)', (_, password, expected) => {
    const fault = faultOfPassword(password, ['anna.bell', 'z\u00f6e\u2019s shop', ''])
    if (expected === undefined) expect(fault).toBeUndefined()
    else expect(fault).toContain(expected)
  })
})
