import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { checkedBy, digestsOf } from '../../../lib/http/content-digest.ts'
import { inPieces } from '../../support/in-pieces.ts'

const bytes = Buffer.from('the bytes of a file')
const of = (algorithm: string, content = bytes) => createHash(algorithm).update(content).digest('base64')
const md5 = of('md5')
const sha256 = of('sha256')
const other = of('sha256', Buffer.from('other bytes'))

/** Returns the bytes if they pass the check, otherwise the error code. */
const pass = async (headers: Readonly<Record<string, string>>) => {
  try {
    return Buffer.concat(await Readable.from(checkedBy(digestsOf(headers), inPieces(bytes, 5))).toArray()).toString()
  } catch (error) {
    return (error as { code?: number }).code
  }
}

test.each([
  ['Content-MD5 with blanks around it', { 'content-md5': ` ${md5} ` }],
  ['Content-Digest of several algorithms', { 'content-digest': `sha-512=:AAAA:, sha-256=:${sha256}: ,unixsum=:AA==:` }],
  [
    'Content-Digest that repeats an algorithm with a right last value',
    { 'content-digest': `sha-256=:${other}:,sha-256=:${sha256}:` },
  ],
  ['Content-Digest with parameters', { 'content-digest': `sha-256=:${sha256}:;a;b=1; c=x` }],
  ['an empty Content-Digest', { 'content-digest': '' }],
  ['both digests', { 'content-md5': md5, 'content-digest': `sha-256=:${sha256}:` }],
])('bytes with %s pass the check', async (_, headers) => {
  expect(await pass(headers)).toBe(bytes.toString())
})

test.each([
  ['one wrong digest of two', { 'content-md5': md5, 'content-digest': `sha-256=:${other}:` }],
  ['a wrong last value', { 'content-digest': `sha-256=:${sha256}:,sha-256=:${other}:` }],
  ['a digest without padding', { 'content-md5': md5.replaceAll('=', '') }],
  ['an empty Content-MD5', { 'content-md5': '' }],
  ['a comma at the end', { 'content-digest': `sha-256=:${sha256}:,` }],
  ['a missing comma', { 'content-digest': `sha-256=:${sha256}: sha-256=:${sha256}:` }],
  ['the algorithm in capitals', { 'content-digest': `SHA-256=:${sha256}:` }],
  ['a text for another algorithm', { 'content-digest': `sha-512="x", sha-256=:${sha256}:` }],
])('bytes with %s are refused with 104033', async (_, headers) => {
  expect(await pass(headers)).toBe(104033)
})

test('bytes are checked without buffering', async () => {
  const content = checkedBy(digestsOf({ 'content-md5': md5 }), inPieces(bytes, 5))
  expect((await content.next()).value).toEqual(bytes.subarray(0, 5))
})
