import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { boundary, formHeaders, multipart } from '../../support/multipart.ts'
import { openStorage, type StorageUnderTest } from './service.ts'

const b = `--${boundary}`
const head = 'Content-Disposition: form-data; name="file"; filename="a.txt"'
const part = (header: string, content = 'content') => `${b}\r\n${header}\r\n\r\n${content}\r\n`
const end = `${b}--\r\n`
const good = part(head)

/**
 * What is wrong with a body, the body, and the code if it is not 104000. Each is refused as a whole, with the good part
 * that some have.
 */
const malformed: readonly (readonly [string, string | Buffer, number?])[] = [
  ['nothing at all', ''],
  ['a line end alone', '\r\n'],
  ['text', 'hello'],
  ['JSON', '{"file": "a"}'],
  ['zeros', Buffer.alloc(10_000)],
  ['the closing boundary alone', end],
  ['the boundary without its dashes', `${boundary}\r\n${head}\r\n\r\nx\r\n${boundary}--\r\n`],
  ['one dash in front of the boundary', good.replace('--', '-') + end],
  ['another boundary', good.replaceAll(boundary, 'other') + end.replaceAll(boundary, 'other')],
  ['no closing boundary', good],
  ['a closing boundary cut in half', good + end.slice(0, 10)],
  ['a closing boundary with one dash', `${good}${b}-`],
  ['something behind the boundary in its line', `${b} x\r\n${head}\r\n\r\nx\r\n${end}`],
  ['line feeds alone', good.replaceAll('\r\n', '\n') + end.replaceAll('\r\n', '\n')],
  ['carriage returns alone', good.replaceAll('\r\n', '\r') + end.replaceAll('\r\n', '\r')],
  ['a part without a blank line', `${b}\r\n${head}\r\n${end}`],
  ['a part without a header', `${b}\r\n\r\ncontent\r\n${end}`],
  ['a header that never ends', `${b}\r\n${head}`],
  ['a header field without a colon', part(`${head}\r\nnonsense`) + end],
  ['a header field without a name', part(`${head}\r\n: x`) + end],
  ['a header field whose name has a blank', part(`${head}\r\nContent Type: x`) + end],
  ['a header field with a NUL in its name', part(`${head}\r\nX\0Y: x`) + end],
  ['a line feed in a header field', part(`${head}\nX-Injected: x`) + end],
  ['a carriage return in a header field', part(`${head}\rX-Injected: x`) + end],
  ['a header field of 20 KB', part(`${head}\r\nX: ${'x'.repeat(20_000)}`) + end],
  ['a header of 100 KB in many fields', part(`${head}\r\n${'X: y\r\n'.repeat(20_000)}`) + end],
  ['a hundred header fields', part(`${head}${'\r\nX-A: y'.repeat(100)}`) + end],
  ['two Content-Disposition fields', part(`${head}\r\n${head}`) + end],
  ['two Content-Type fields', part(`${head}\r\nContent-Type: a/b\r\nContent-Type: c/d`) + end],
  ['no Content-Disposition', part('Content-Type: text/plain') + end],
  ['a disposition that is no form-data', part('Content-Disposition: inline; name="file"; filename="a"') + end],
  ['an empty disposition', part('Content-Disposition:') + end],
  ['a disposition without a name', part('Content-Disposition: form-data; filename="a"') + end],
  ['two names', part('Content-Disposition: form-data; name="file"; name="x"; filename="a"') + end],
  ['two file names', part(`${head}; filename="b"`) + end],
  ['a quote that never ends', part('Content-Disposition: form-data; name="file"; filename="a') + end],
  ['a quote in the middle', part('Content-Disposition: form-data; name="file"; filename="a"b"') + end],
  ['a parameter without a value', part('Content-Disposition: form-data; name="file"; filename') + end],
  ['parameters without a semicolon', part('Content-Disposition: form-data name="file" filename="a"') + end],
  [
    'a file name that is no UTF-8',
    Buffer.concat([
      Buffer.from(`${b}\r\n${head.slice(0, -6)}`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`"\r\n\r\nx\r\n${end}`),
    ]),
    104015,
  ],
  [
    'an overlong file name in UTF-8',
    Buffer.concat([
      Buffer.from(`${b}\r\n${head.slice(0, -6)}`),
      Buffer.from([0xc0, 0xae, 0xc0, 0xae]),
      Buffer.from(`"\r\n\r\nx\r\n${end}`),
    ]),
    104015,
  ],
  [
    'an extended file name that is no UTF-8',
    part('Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'%ff') + end,
    104015,
  ],
  [
    'an extended file name in another encoding',
    part('Content-Disposition: form-data; name="file"; filename*=koi8-r\'\'a') + end,
    104015,
  ],
  [
    'a file name of control characters',
    part('Content-Disposition: form-data; name="file"; filename="a\tb"') + end,
    104015,
  ],
  ['an empty file name', part('Content-Disposition: form-data; name="file"; filename=""') + end, 104002],
  ['no file name', part('Content-Disposition: form-data; name="file"') + end, 104002],
  ['a file name of dots', part('Content-Disposition: form-data; name="file"; filename=".."') + end, 104015],
  [
    'a file name that ends in a slash',
    part('Content-Disposition: form-data; name="file"; filename="a/"') + end,
    104014,
  ],
  [
    'a file name of 300 bytes',
    part(`Content-Disposition: form-data; name="file"; filename="${'x'.repeat(300)}"`) + end,
    104028,
  ],
  ['a second part with a broken header', good + part('nonsense') + end],
  ['a second part that is cut', good + b],
  ["a second part with the first one's name", good + good + end, 104016],
  [
    'a second part with an empty name',
    good + part('Content-Disposition: form-data; name="file"; filename=""') + end,
    104002,
  ],
  [
    'an empty file field of a browser',
    `${good}${b}\r\nContent-Disposition: form-data; name="file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n${end}`,
    104014,
  ],
  [
    'a part that is declared as bytes and has no file name',
    part('Content-Disposition: form-data; name="file"\r\nContent-Type: Application/Octet-Stream') + end,
    104014,
  ],
  ['a second part without a Content-Disposition', good + part('Content-Type: text/plain') + end],
  ['a second part that is no form-data', good + part('Content-Disposition: inline; name="file"; filename="b"') + end],
  ['a second part whose file name never ends', good + part('Content-Disposition: form-data; filename="b') + end],
  ['a second part with something behind its boundary', `${good}${b} x\r\n${head}\r\n\r\nx\r\n${end}`],
  ['a second part with a blank behind its boundary', `${good}${b} \r\n${head}\r\n\r\nx\r\n${end}`],
  ['a second part with a dash behind its boundary', `${good}${b}-\r\n${head}\r\n\r\nx\r\n${end}`],
  ['no part that is a file', part('Content-Disposition: form-data; name="other"; filename="a"') + end],
  ['a name in capitals', part('Content-Disposition: form-data; name="FILE"; filename="a"') + end],
  ['10,000 parts', part('Content-Disposition: form-data; name="x"', '').repeat(10_000) + end],
  ['a file, and 10,000 other parts', good + part('Content-Disposition: form-data; name="x"', '').repeat(10_000) + end],
  [
    '10,000 files',
    Array.from({ length: 10_000 }, (_, i) =>
      part(`Content-Disposition: form-data; name="file"; filename="${i}"`, ''),
    ).join('') + end,
  ],
  [
    'a nested multipart that ends the outer one',
    `${b}\r\n${head}\r\nContent-Type: multipart/mixed; boundary=${boundary}\r\n\r\n${b}\r\n\r\ninner\r\n${b}--\r\n`.replace(
      `${b}\r\n\r\ninner`,
      `${b}\r\nX\r\n\r\ninner`,
    ),
  ],
  ['a preamble that never ends', 'x'.repeat(100_000)],
  ['a preamble of 100 KB', `${'x'.repeat(100_000)}\r\n${good}${end}`],
  ['a file that is too large', part(head, 'x'.repeat(5 * 1024 * 1024)) + end, 104005],
  [
    'a second file that is too large',
    good + part(head.replace('a.txt', 'b'), 'x'.repeat(5 * 1024 * 1024)) + end,
    104005,
  ],
]

const cases = malformed.map(([what, body, code = 104000]) => [what, body, code] as const)

const whole = multipart([
  { name: 'one.txt', content: 'x'.repeat(2_000) },
  { name: 'two.txt', content: Buffer.alloc(2_000, `\r\n--${boundary.slice(0, -1)}`) },
])
const closing = whole.length - '--\r\n'.length

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function* thenBreaks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield* inPieces(bytes, 700)
  throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
}

describe('a multipart body that is not well-formed', () => {
  let storage: StorageUnderTest
  let number = 0
  beforeAll(async () => {
    storage = await openStorage()
  })
  afterAll(() => storage.close())

  const refused = async (body: Buffer | string | Readable, code = 104000, headers = formHeaders) => {
    const folder = `/folder-${number++}`
    const answer = await storage.call('POST', folder, { headers, body })
    expect(statusAndCode(answer)).toEqual([400, code])
    expect((await storage.get(folder, { meta: '' })).status).toBe(404)
    expect(await storage.leftovers()).toBe(0)
  }

  it.each(cases)('is refused and leaves nothing: %s', async (_, body, code) => {
    await refused(body, code)
    if (body.length < 50_000) await refused(Readable.from(inPieces(Buffer.from(body), 1)), code)
  })

  it.each(cases.filter(([name]) => !/preamble|another boundary/.test(name)))(
    'is refused without its boundary declared: %s',
    async (_, body, code) => {
      await refused(body, code, { 'Content-Type': 'application/octet-stream' })
    },
  )

  it.each(Array.from({ length: Math.ceil(closing / 100) }, (_, index) => index * 100))(
    'is refused when it ends, or its connection breaks, at byte %i',
    async (length) => {
      await refused(whole.subarray(0, length))
      await refused(Readable.from(thenBreaks(whole.subarray(0, length))))
    },
  )

  it('is told from one that is', async () => {
    for (const size of [1, 7, 64, whole.length]) {
      const body = Readable.from(inPieces(whole, size))
      expect((await storage.call('POST', '/fine', { headers: formHeaders, body })).status).toBe(200)
    }
    expect(await storage.leftovers()).toBe(0)
  })
})
