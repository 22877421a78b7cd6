import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkedBy, digestsOf } from '../../../lib/http/content-digest.ts'

const bytes = Buffer.from('the bytes of a file')
const of = (algorithm: string, content = bytes) => createHash(algorithm).update(content).digest('base64')
const md5 = of('md5')
const sha256 = of('sha256')
const other = of('sha256', Buffer.from('other bytes'))

async function* inTwo(): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, 5)
  yield bytes.subarray(5)
}

/** The bytes that passed, or the error code. */
const pass = async (headers: Readonly<Record<string, string>>) => {
  try {
    const passed: Uint8Array[] = []
    for await (const chunk of checkedBy(digestsOf(headers), inTwo())) passed.push(chunk)
    return Buffer.concat(passed).toString()
  } catch (error) {
    return (error as { code?: number }).code
  }
}

describe('bytes with a digest', () => {
  test.each([
    ['Content-MD5 with blanks around it', { 'content-md5': ` ${md5} ` }],
    [
      'Content-Digest of several algorithms',
      { 'content-digest': `sha-512=:AAAA:, sha-256=:${sha256}: ,unixsum=:AA==:` },
    ],
    ['Content-Digest whose last value counts', { 'content-digest': `sha-256=:${other}:,sha-256=:${sha256}:` }],
    ['Content-Digest with parameters', { 'content-digest': `sha-256=:${sha256}:;a;b=1; c=x` }],
    ['an empty Content-Digest', { 'content-digest': '' }],
    ['both', { 'content-md5': md5, 'content-digest': `sha-256=:${sha256}:` }],
  ])('pass: %s', async (_, headers) => {
    expect(await pass(headers)).toBe(bytes.toString())
  })

  test.each([
    ['another one of both', { 'content-md5': md5, 'content-digest': `sha-256=:${other}:` }],
    ['a last value that is another', { 'content-digest': `sha-256=:${sha256}:,sha-256=:${other}:` }],
    ['hexadecimal digits', { 'content-md5': createHash('md5').update(bytes).digest('hex') }],
    ['a digest that is too short', { 'content-md5': 'AAAA' }],
    ['no padding', { 'content-md5': md5.replaceAll('=', '') }],
    ['nothing', { 'content-md5': '' }],
    ['no value', { 'content-digest': 'sha-256' }],
    ['a comma at the end', { 'content-digest': `sha-256=:${sha256}:,` }],
    ['no comma between', { 'content-digest': `sha-256=:${sha256}: sha-256=:${sha256}:` }],
    ['a name in capitals', { 'content-digest': `SHA-256=:${sha256}:` }],
    ['another algorithm with a text', { 'content-digest': `sha-512="x", sha-256=:${sha256}:` }],
  ])('are 104033 with %s', async (_, headers) => {
    expect(await pass(headers)).toBe(104033)
  })

  test('pass without buffering', async () => {
    const content = checkedBy(digestsOf({ 'content-md5': md5 }), inTwo())
    expect((await content.next()).value).toEqual(bytes.subarray(0, 5))
  })
})
