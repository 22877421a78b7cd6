import { describe, expect, it } from 'vitest'
import { messages } from '../../support/messages.ts'
import { boundary, multipart } from '../../support/multipart.ts'
import { storage } from '../../support/paths.ts'
import { target } from '../setup/target.ts'
import { expectError } from '../support/expectations.ts'
import { call } from '../support/http.ts'
import { at, namesIn, ownFolder, put, read, store, upload } from '../support/storage.ts'

const own = ownFolder()

it('POST stores several files, and creates missing folders (S-27, S-29)', async () => {
  const { status, json } = await upload(`${own}/a/b/c`, [
    { name: 'one.txt', content: 'one' },
    { name: 'two', content: '' },
  ])
  expect({ status, json }).toEqual({ status: 200, json: { status: 'success' } })
  expect(await namesIn(`${own}/a/b/c`)).toEqual(['one.txt', 'two'])
  expect((await read(`${own}/a/b/c/one.txt`)).text).toBe('one')
  expect((await read(`${own}/a/b/c/two`)).headers['content-length']).toBe('0')
})

const form = multipart([{ name: 'a' }]).toString()
it.each([
  ['the disposition attachment, as curl sends it', form.replace('form-data', 'attachment'), 'a'],
  ['a line end before the first boundary', `\r\n${form}`, 'a'],
  ['a semicolon after the parameters of a part', form.replace('filename="a"', '$&; '), 'a'],
  ['a name in the form filename*', form.replace('filename="a"', "filename*=UTF-8''na%C3%AFve%20%E9%95%B7"), 'naïve 長'],
])('A form may have %s (S-28)', async (_, body, name) => {
  for (const type of ['application/octet-stream', `multipart/form-data; boundary=${boundary}`]) {
    const folder = `${own}/accepted-${type.length}-${body.length}`
    expect((await upload(folder, [], { headers: { 'Content-Type': type }, body })).status).toBe(200)
    expect(await namesIn(folder)).toEqual([name])
  }
})

it('Parts with a name other than file are ignored (S-29)', async () => {
  await upload(`${own}/others`, [{ part: 'note', content: 'x' }, { name: 'a' }, { part: 'other', name: 'b' }])
  expect(await namesIn(`${own}/others`)).toEqual(['a'])
})

it('A file name starts after its last slash or backslash (S-15)', async () => {
  await upload(`${own}/paths`, [{ name: '../../x/a' }, { name: 'C:\\photos\\b' }])
  expect(await namesIn(`${own}/paths`)).toEqual(['a', 'b'])
})

it('If a path ends in the file name, the file is stored or replaced (S-33, S-34)', async () => {
  await upload(`${own}/habit/photo.jpg`, [{ name: 'photo.jpg', content: 'x' }])
  expect(await namesIn(`${own}/habit`)).toEqual(['photo.jpg'])
  await upload(`${own}/habit/photo.jpg`, [{ name: 'photo.jpg', content: 'y' }])
  expect((await read(`${own}/habit/photo.jpg`)).text).toBe('y')
})

it('Files are stored in the folder if it exists, or if several are sent (S-34)', async () => {
  await store(`${own}/folders/same/x`, 'x')
  await upload(`${own}/folders/same`, [{ name: 'same' }])
  await upload(`${own}/folders/two`, [{ name: 'two' }, { name: 'more' }])
  expect(await namesIn(`${own}/folders/same`)).toEqual(['same', 'x'])
  expect(await namesIn(`${own}/folders/two`)).toEqual(['more', 'two'])
})

it('One request can contain 100 files (S-29)', async () => {
  const files = Array.from({ length: 100 }, (_, index) => ({ name: `f${index}`, content: `${index}` }))
  expect((await upload(`${own}/many`, files)).status).toBe(200)
  expect(await namesIn(`${own}/many`)).toHaveLength(100)
})

it('The media type comes from the file name, otherwise from the part (S-35)', async () => {
  await upload(`${own}/types`, [
    { name: 'a.png', type: 'text/plain' },
    { name: 'b', type: 'image/gif' },
    { name: 'png' },
    // Names that every JavaScript object has.
    { name: 'd.constructor' },
    { name: 'e.__proto__', type: 'image/gif' },
  ])
  const names = ['a.png', 'b', 'png', 'd.constructor', 'e.__proto__']
  const types = await Promise.all(
    names.map((name) => call(at(`${own}/types/${name}`), { headers: { Accept: 'image/png, image/gif' } })),
  )
  expect(types.map(({ headers }) => headers['content-type'])).toEqual([
    ...['image/png', 'image/gif', 'application/octet-stream', 'application/octet-stream', 'image/gif'],
  ])
})

const bytes = 'application/octet-stream'

const cases: readonly (readonly [string, number, Parameters<typeof upload>[1]])[] = [
  ['without a part named file (S-36)', 104000, [{ part: 'other', name: 'a' }]],
  ['with a part named file that has no file name (S-37, E-30)', 104002, [{ name: 'good' }, { content: 'x' }]],
  ['with a part named file that is text with an empty file name (S-37)', 104002, [{ name: '', type: 'text/plain' }]],
  ['with the empty file field of a browser (S-38)', 104014, [{ name: 'good' }, { name: '', type: bytes, content: '' }]],
  ['with a nameless part that is declared as bytes (S-38)', 104014, [{ type: bytes }]],
  ['with a name that ends in a slash (S-38)', 104014, [{ name: 'good' }, { name: 'a/' }]],
  ['with the same name twice (S-44, E-43)', 104016, [{ name: 'good' }, { name: 'good' }]],
  ['with the file name .. (S-10)', 104015, [{ name: 'good' }, { name: '..' }]],
  ['with a file name that is too long (S-12)', 104028, [{ name: 'good' }, { name: 'x'.repeat(256) }]],
  ['with more than 100 files (S-29)', 104000, Array.from({ length: 101 }, (_, index) => ({ name: `f${index}` }))],
]
it.each(cases)('An upload %s is refused with %i, and nothing is stored (S-30)', async (_, code, files) => {
  const folder = `${own}/refused/${code}`
  expectError(await upload(folder, files), 400, code)
  expectError(await upload(folder, files, { headers: { 'Content-Type': bytes } }), 400, code)
  expectError(await read(folder, '?meta'), 404, 104001)
})

it('A name that is not UTF-8 is refused with 104015 (S-30, S-39)', async () => {
  const folder = `${own}/refused/names`
  const text = multipart([{ name: 'good' }, { name: 'a' }]).toString('latin1')
  // The name in raw bytes, in an extended form, and with another charset.
  for (const parameter of ['filename="\xe9"', "filename*=UTF-8''%e9", "filename*=ISO-8859-1''e"]) {
    const named = text.replace('filename="a"', () => parameter)
    expectError(await upload(folder, [], { body: Buffer.from(named, 'latin1') }), 400, 104015)
  }
  expectError(await read(folder, '?meta'), 404, 104001)
})

it('A body that is not multipart is refused with 104000 (S-36)', async () => {
  for (const [type, body] of [
    ['text/plain', 'hello'],
    ['application/json', '{}'],
    ['multipart/form-data; boundary=x', 'hello'],
    ['multipart/form-data', ''],
  ] as const) {
    const answer = await call(at(`${own}/refused`), { method: 'POST', body, headers: { 'Content-Type': type } })
    expectError(answer, 400, 104000)
    if (!type.startsWith('multipart')) expect(answer.json.message).toMatch(messages.http.notMultipart)
  }
})

it('An upload into or below a file is refused (S-41, S-42, E-37, E-44)', async () => {
  await store(`${own}/file`, 'x')
  expectError(await upload(`${own}/file/below/more`, [{ name: 'a' }]), 400, 104009)
  expectError(await put(`${own}/file/below`, 'x'), 400, 104009)
  expectError(await upload(`${own}/file`, [{ name: 'a' }]), 400, 104019)
  expect((await read(`${own}/file`)).text).toBe('x')
})

it('An upload onto a folder is refused with 400/104022 (S-43, E-46)', async () => {
  await store(`${own}/taken/folder/x`, 'x')
  expectError(await upload(`${own}/taken`, [{ name: 'a' }, { name: 'folder' }]), 400, 104022)
  expectError(await put(`${own}/taken/folder`, 'x'), 400, 104022)
  expect(await namesIn(`${own}/taken`)).toEqual(['folder/'])
})

it.each([
  ['%2e%2e/x', 104015],
  ['a%2f..%2fb', 104015],
  ['/a//../b', 104015],
  ['a%00', 104015],
  ['a%5Cb', 104015],
  [`${'a/'.repeat(450)}ab`, 104015],
  ['x'.repeat(256), 104028],
])('An upload to %s is refused with 400/%i (S-10, S-11, S-12, E-42)', async (path, code) => {
  const body = multipart([{ name: 'a' }])
  for (const type of [`multipart/form-data; boundary=${boundary}`, bytes]) {
    const headers = { 'Content-Type': type }
    expectError(await call(`${storage}/${path}`, { method: 'POST', headers, body }), 400, code)
  }
  expectError(await call(`${storage}/${path}`, { method: 'PUT', body: 'x' }), 400, code)
  expectError(await call(`${storage}/${path}`), 400, code)
})

const good = multipart([{ name: 'good' }]).toString()
const two = multipart([{ name: 'good' }, { name: 'a' }]).toString()
const ofForms: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['only a line end', '\r\n'],
  ['only the last boundary', `--${boundary}--\r\n`],
  ['one dash before a boundary', good.slice(1)],
  ['another boundary', good.replaceAll(boundary, 'other')],
  ['line feeds only', good.replaceAll('\r\n', '\n')],
  ['a header field of 20 KB', good.replace('Content', `X: ${'x'.repeat(20_000)}\r\nContent`)],
  ['a part in base64 (S-135)', good.replace('Content', 'Content-Transfer-Encoding: BASE64\r\nContent')],
  ['a part without a disposition', two.replace(/Content-Disposition.*"a"/, 'Content-Type: text/plain')],
  ['100 KB before its first boundary', 'x'.repeat(100_000) + good],
  [
    '1,000 other parts (S-29)',
    good.replace(
      '--boundary',
      `${`--${boundary}\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n`.repeat(1_000)}$&`,
    ),
  ],
]
it.each(ofForms)('A form with %s is refused with 104000, and nothing is stored (S-30, S-36)', async (_, body) => {
  const folder = `${own}/refused/forms`
  expectError(await upload(folder, [], { body }), 400, 104000)
  expectError(await read(folder, '?meta'), 404, 104001)
})

const { largestFile } = target

describe.skipIf(largestFile === null)('Files at the size limit', () => {
  const largest = Buffer.alloc(largestFile ?? 0, 'x')
  const tooLarge = Buffer.alloc(largest.length + 1, 'x')

  it.each([
    ['a declared length', false],
    ['no declared length', true],
  ])('A file over the limit is refused with 104005, in a body with %s (S-40, E-33)', async (_, isChunked) => {
    const folder = `${own}/too-large-${isChunked}`
    const files = [{ name: 'good' }, { name: 'large', content: tooLarge }]
    expectError(await upload(folder, files, { isChunked }), 400, 104005)
    expectError(await put(`${folder}/raw`, tooLarge, '', { isChunked }), 400, 104005)
    expectError(await read(folder, '?meta'), 404, 104001)
  })

  it('A file of exactly the largest allowed size is stored (S-40)', async () => {
    expect((await put(`${own}/largest`, largest, '', { isChunked: true })).status).toBe(200)
    expect((await upload(`${own}/largest-too`, [{ name: 'a', content: largest }])).status).toBe(200)
    expect((await read(`${own}/largest-too/a`)).headers['content-length']).toBe(String(largestFile))
  })
})
