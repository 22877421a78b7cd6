import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { createFingerprint } from '../../../lib/storage/content.ts'

const partLength = 8 * 1024 * 1024

const md5 = (bytes: Buffer) => hash('md5', bytes, 'buffer')

const inPieces = (bytes: Buffer, length: number): string => {
  const making = createFingerprint()
  for (let at = 0; at < bytes.length; at += length) making.update(bytes.subarray(at, at + length))
  return making.digest()
}

it('the fingerprint of several parts is the MD5 of their MD5s (S-83)', () => {
  const [first, second, third] = [Buffer.alloc(partLength, 'a'), Buffer.alloc(partLength, 'b'), Buffer.from('c')]
  const expected = `${md5(Buffer.concat([first, second, third].map(md5))).toString('hex')}-3`
  const bytes = Buffer.concat([first, second, third])
  for (const length of [bytes.length, partLength, 3_000_001]) expect(inPieces(bytes, length)).toBe(expected)
})
