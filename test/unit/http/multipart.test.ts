import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readMultipart } from '../../../lib/http/multipart.ts'
import { MultipartError } from '../../../lib/http/multipart-body.ts'
import { timesToTry } from '../../support/each-call.ts'
import { inPieces } from '../../support/in-pieces.ts'

const fileHeader = 'Content-Disposition: form-data; name="file"; filename="a"'
const partOf = (header: string, content: string | Buffer = 'x', boundary = 'b') =>
  Buffer.concat([Buffer.from(`--${boundary}\r\n${header}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
const bodyOf = (...parts: readonly Buffer[]) => Buffer.concat([...parts, Buffer.from('--b--\r\n')])

const gather = async (content: AsyncIterable<Buffer> | readonly Buffer[]): Promise<Buffer> =>
  Buffer.concat(await Readable.from(content).toArray())

const readAll = async (source: AsyncIterator<Uint8Array>, boundary: string | undefined) => {
  const parts = []
  for await (const { content, ...printed } of readMultipart(source, boundary)) {
    parts.push({ ...printed, content: (await gather(content)).toString('latin1') })
  }
  return parts
}

/** Reads the only part of a body with this header, once from pieces of one byte and once as a whole. */
const readHeader = async (header: string) => {
  const body = bodyOf(partOf(header))
  const [part] = await readAll(inPieces(body), 'b')
  expect(await readAll(inPieces(body, 1), 'b')).toEqual([part])
  expect(await readAll(inPieces(body, 1), undefined)).toEqual([part])
  return part
}

const refuses = async (body: Buffer) => {
  for (const size of [1, body.length]) {
    await expect(readAll(inPieces(body, size), 'b')).rejects.toThrow(MultipartError)
    await expect(readAll(inPieces(body, size), undefined)).rejects.toThrow(MultipartError)
  }
}

it('parts are read unchanged, whatever their content and however the body is split', async () => {
  const boundaries = fc.constantFrom('b', '--', '-b-b', "a'()+_,-./:=? z", '"\\', 'x'.repeat(200))
  // Much of this content looks like the beginning of a delimiter.
  const contents = fc
    .array(fc.constantFrom('\r', '\n', '\r\n', '-', '--', '\r\n-', '\r\n--', '\0', '\xff', 'attachment;', 'x'))
    .map((marks) => marks.join(''))
  await fc.assert(
    fc.asyncProperty(
      boundaries,
      fc.array(contents, { minLength: 1, maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.boolean(),
      async (boundary, parts, sizes, isDeclared) => {
        fc.pre(parts.every((content) => !`\r\n${content}\r\n`.includes(`\r\n--${boundary}`)))
        const body = Buffer.concat([
          ...parts.map((content) => partOf(fileHeader, Buffer.from(content, 'latin1'), boundary)),
          Buffer.from(`--${boundary}--\r\n`),
        ])
        const source = async function* () {
          for (let at = 0, turn = 0; at < body.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            yield body.subarray(at, at + size)
            at += size
          }
        }
        const read = await readAll(source(), isDeclared ? boundary : undefined)
        expect(read.map(({ content }) => content)).toEqual(parts)
      },
    ),
    { numRuns: timesToTry(500) },
  )
})

it('parts are read in linear time, even if the body arrives in one piece', async () => {
  const small = Array.from({ length: 900 }, () => partOf(fileHeader))
  const body = bodyOf(...small, partOf(fileHeader, Buffer.alloc(16 * 1024 * 1024)))
  const sizes: number[] = []
  for await (const { content } of readMultipart(inPieces(body), 'b')) {
    let size = 0
    for await (const piece of content) size += piece.length
    sizes.push(size)
  }
  expect(sizes).toEqual([...small.map(() => 1), 16 * 1024 * 1024])
})

it('a body has at most 1,000 parts', async () => {
  const read = (count: number) =>
    readAll(
      inPieces(bodyOf(...Array.from({ length: count }, () => partOf('Content-Disposition: form-data; name="a"')))),
      'b',
    )
  expect(await read(1_000)).toHaveLength(1_000)
  await expect(read(1_001)).rejects.toThrow('more than 1000 parts')
})

const part = { name: 'file', fileName: 'a', contentType: undefined, content: 'x' }

it.each([
  ['no blank after a colon', fileHeader.replace(': ', ':')],
  ['blanks around a value', fileHeader.replace(': ', ': \t ').concat(' \t')],
  ['a field over two lines', fileHeader.replace('; filename', ';\r\n filename')],
  ['names in capitals', fileHeader.toUpperCase().replace('"FILE"', '"file"').replace('"A"', '"a"')],
  ['other fields', `X-A: 1\r\n${fileHeader}\r\nX-B: 2`],
])('a header with %s is read', async (_, header) => {
  expect(await readHeader(header)).toEqual(part)
})

it('an empty part may consist only of its header and the next delimiter', async () => {
  const body = Buffer.from(`--b\r\n${fileHeader}\r\n\r\n--b\r\n${fileHeader}\r\n\r\n--b--\r\n`)
  for (const size of [1, body.length]) {
    const empty = { ...part, content: '' }
    expect(await readAll(inPieces(body, size), 'b')).toEqual([empty, empty])
  }
})

it('the type of a part is read, and an invalid type is ignored', async () => {
  const typeOf = async (type: string) => (await readHeader(`${fileHeader}${type}`))?.contentType
  expect(await typeOf('')).toBeUndefined()
  expect(await typeOf('\r\nContent-Type: text/plain')).toBe('text/plain')
  expect(await typeOf('\r\ncontent-type:\t Image/GIF ; a=b \t')).toBe('image/gif')
  expect(await typeOf('\r\nContent-Type:\r\n image/gif; charset')).toBe('image/gif')
  for (const none of ['', 'text', 'text/', 'te xt/plain', 'text/plain/x', `text/${'x'.repeat(65)}`]) {
    expect(await typeOf(`\r\nContent-Type: ${none}`)).toBeUndefined()
  }
})

it('the bytes of a file name are read, also from the extended form', async () => {
  const nameOf = async (parameter: string) => {
    const body = bodyOf(partOf(`Content-Disposition: form-data; name="file"; ${parameter}`))
    const [read] = await readAll(inPieces(body), 'b')
    return Buffer.from(read?.fileName ?? '', 'latin1').toString()
  }
  expect(await nameOf('filename="é 長"')).toBe('é 長')
  expect(await nameOf("filename*=UTF-8''%C3%A9%20%E9%95%B7")).toBe('é 長')
  expect(await nameOf('filename="other"; filename*=utf-8\'de\'%C3%A9')).toBe('é')
  expect(await nameOf('filename="other"; filename*=UTF-8\'\'')).toBe('other')
  expect(await nameOf("filename*=x-utf-8''")).toBe('\ufffd')
  expect(await nameOf("filename*=UTF-8'de'")).toBe('')
  expect(await nameOf('filename="a\\"; filename*=koi8-r\'\'b; filename=c"')).toBe(
    "a\"; filename*=koi8-r''b; filename=c",
  )
  expect(await nameOf('filename="C:\\photos\\a"')).toBe('C:\\photos\\a')
})

it('a part with a faulty header is refused, never left out', async () => {
  const good = partOf(fileHeader)
  const headers = [
    'Content-Type: text/plain',
    'Content-Disposition:',
    'Content-Disposition: inline; name="file"; filename="a"',
    'Content-Disposition: form-data; name="file"; filename',
    'Content-Disposition: form-data; name="file"; filename="a"b"',
    'Content-Disposition: form-data; name="file"; filename="a',
    'Content-Disposition: form-data name="file" filename="a"',
    'Content-Disposition: form-data; name="file"; filename=a b',
    `${fileHeader}; name="other"`,
    `${fileHeader}; FILENAME="b"`,
    `${fileHeader};\r\n filename="b"`,
    `${fileHeader}\r\n${fileHeader}`,
    `${fileHeader}\r\nContent-Type: a/b\r\nContent-Type: c/d`,
    `${fileHeader}\r\nnonsense`,
    `${fileHeader}\r\nContent-Type: text/plain\0`,
    ` folded: x\r\n${fileHeader}`,
    `${fileHeader}${Array.from({ length: 32 }, (_, index) => `\r\nX-${index}: y`).join('')}`,
    `Content-Disposition: form-data; name="file"; filename*=a`,
    `Content-Disposition: form-data; name="file"; filename*=UTF-8''a b`,
  ]
  for (const header of headers) {
    await refuses(bodyOf(good, partOf(header)))
    await refuses(bodyOf(good, partOf(header), good))
  }
  for (const behind of [' ', ' x', '-', '\t', '\r']) {
    const broken = Buffer.from(`--b${behind}\r\n${fileHeader}\r\n\r\nx\r\n`)
    await refuses(bodyOf(good, broken))
    await refuses(bodyOf(good, broken, good))
  }
})

it.each([
  ['no header', '\r\n\r\nx\r\n--b--\r\n'],
  ['more than the boundary', `xy${fileHeader}\r\n\r\nx\r\n--b--\r\n`],
  ['Unexpected end', '\r\nContent-'],
])('the error says "%s" if the header of a part is not after its boundary', async (reason, rest) => {
  await expect(readAll(inPieces(Buffer.from(`--b${rest}`)), 'b')).rejects.toThrow(reason)
})

it.each([
  ['no characters', ''],
  ['more than 200 characters', 'x'.repeat(201)],
  ['a blank at the end', 'b '],
  ['a character beyond ASCII', '\xe9'],
  ['a line end', 'b\r\nb'],
])('a boundary with %s is refused, even if the body uses it', async (_, boundary) => {
  const body = Buffer.from(`--${boundary}\r\n${fileHeader}\r\n\r\nx\r\n--${boundary}--\r\n`, 'latin1')
  await expect(readAll(inPieces(body), boundary)).rejects.toThrow('its boundary')
})

const body = bodyOf(partOf(fileHeader, 'content'), partOf('Content-Disposition: form-data; name="a"', 'text'))
const last = body.length - '--\r\n'.length

it('a body that breaks off at any position is refused', async () => {
  for (let length = 0; length < last; length++) await refuses(body.subarray(0, length))
})

it('if the source of the body fails, the reader gets the error', async () => {
  for (let length = 0; length <= body.length; length++) {
    const failure = new Error('aborted')
    for (const boundary of ['b', undefined]) {
      await expect(readAll(inPieces(body.subarray(0, length), 7, failure), boundary)).rejects.toBe(failure)
    }
  }
})

describe('a reader of a multipart body', () => {
  const body = bodyOf(partOf(fileHeader, 'a'.repeat(10_000)), partOf(fileHeader, 'b'.repeat(10_000)))

  /** Counts the bytes that were read. */
  const counted = () => {
    const asked = { bytes: 0 }
    const source = async function* () {
      for await (const piece of inPieces(body, 100)) {
        asked.bytes += piece.length
        yield piece
      }
    }
    return { asked, source: source() }
  }

  it('no more bytes are read than the reader needs', async () => {
    const { asked, source } = counted()
    const parts = readMultipart(source, 'b')
    expect(asked.bytes).toBe(0)
    const { value: part } = await parts.next()
    expect(asked.bytes).toBeLessThanOrEqual(200)
    let taken = 0
    for await (const piece of part?.content ?? []) {
      taken += piece.length
      expect(asked.bytes).toBeLessThanOrEqual(taken + 200)
    }
    expect(taken).toBe(10_000)
    expect(asked.bytes).toBeLessThanOrEqual(10_500)
  })

  it.each([0, 1, 5])('a reader may stop after %i pieces of a part, and read the next part', async (pieces) => {
    const { source } = counted()
    const parts = readMultipart(source, 'b')
    const { value: part } = await parts.next()
    let left = pieces
    if (left > 0) for await (const _ of part?.content ?? []) if (--left === 0) break
    const { value: next } = await parts.next()
    expect((await gather(next?.content ?? [])).toString()).toBe('b'.repeat(10_000))
    expect((await parts.next()).done).toBe(true)
  })

  it('after a reader stops, no more bytes are read', async () => {
    const { asked, source } = counted()
    let kept: AsyncIterable<Buffer> | undefined
    for await (const { content } of readMultipart(source, 'b')) {
      kept = content
      break
    }
    const before = asked.bytes
    await expect(gather(kept ?? [])).rejects.toThrow(/reader/)
    expect(asked.bytes).toBe(before)
  })
})
