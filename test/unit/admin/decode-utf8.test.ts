import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { decodeUtf8, NotUtf8 } from '../../../admin/records/read-records.ts'
import { inPieces } from '../../support/in-pieces.ts'

const decode = async (bytes: Buffer, size: number): Promise<string> =>
  (await Readable.from(decodeUtf8(inPieces(bytes, size))).toArray()).join('')

const sizes = [1, 2, 3, 7, 1_000]

const texts = ['', '\n', 'a\nb', 'é\n😀\r\n長', '\ufffd stands there', 'a\n\n\n']
it.each(texts)('the bytes decode to %j, however they are split', async (text) => {
  for (const size of sizes) expect(await decode(Buffer.from(text), size)).toBe(text)
})

it('a byte order mark is left out', async () => {
  for (const size of sizes) expect(await decode(Buffer.from('\ufeffa'), size)).toBe('a')
})

const broken: readonly (readonly [string, string, number])[] = [
  ['a byte of another encoding', '\n\nCaf\xe9 au lait\n', 3],
  ['a character that is cut', 'a\n\xe2\x82\n\xff', 2],
  ['a character that is cut by the end', 'a\nb\xe2\x82', 2],
  ['a continuation byte without a first byte', '\x80', 1],
  ['an overlong form', '\n\xc0\xae', 2],
  ['half a surrogate pair', '\xed\xa0\x80\n', 1],
  ['a code point beyond Unicode', '\xf4\x90\x80\x80', 1],
  ['UTF-16', '\xff\xfea\0\n\0', 1],
]
it.each(broken)('the error names the line of the invalid bytes: %s', async (_, bytes, line) => {
  for (const size of sizes) {
    const decoding = decode(Buffer.from(bytes, 'latin1'), size)
    await expect(decoding).rejects.toThrow(new NotUtf8(`line ${line} is not valid UTF-8`))
  }
})
