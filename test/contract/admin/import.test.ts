import { symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administer, administerJson, refusedIn } from '../../support/administration.ts'
import { launch, runInShell } from '../../support/program.ts'
import { test } from '../../support/test.ts'

const importing = ['import', '-', '--site', '1001']
const jsonLines = (records: readonly unknown[], end = '\n') =>
  records.map((record) => JSON.stringify(record) + end).join('')

const form = { kind: 'webForm', id: 3, name: 'Contact' }
const fields = [
  { kind: 'field', webFormId: 3, typeId: -2, mandatory: true, order: 1 },
  { kind: 'field', webFormId: 3, typeId: -400, name: 'Say "}],[{" \\ and ü', mandatory: false, order: 2 },
]
const records = [form, ...fields]
/**
 * Imports records of which some may be bad, and answers what is told of them: the exit status is 1 when there are any.
 */
const importSome = async (directory: string, text: string, ...options: string[]) => {
  const { status, stdout, stderr } = await administer(directory, ['--json', ...importing, ...options], text)
  const outcome = JSON.parse(stdout)
  expect({ status, stderr }).toEqual({ status: outcome.skipped > 0 ? 1 : 0, stderr: '' })
  return outcome
}

const fault = (line: number, message: unknown) => ({ line, message, count: 1, lines: [line] })

const allImported = { imported: 3, skipped: 0, errors: [] }

describe('import takes', () => {
  const shapes: Record<string, string> = {
    'JSON lines': jsonLines(records),
    'JSON lines without a last line end': jsonLines(records).trimEnd(),
    'JSON lines with a byte order mark, CRLF and blank lines': `\uFEFF\r\n${jsonLines(records, '\r\n\r\n')}`,
    'one JSON array': JSON.stringify(records),
    'one JSON array, indented, with a byte order mark and CRLF': `\uFEFF${JSON.stringify(records, null, 2).replaceAll('\n', '\r\n')}\r\n`,
  }
  for (const [shape, text] of Object.entries(shapes)) {
    test(`${shape}, from a file and from standard input (T-23)`, async ({ siteDirectory }) => {
      const file = join(siteDirectory, 'records')
      await writeFile(file, text)
      expect(await administerJson(siteDirectory, ['import', file, '--site', '1001'])).toEqual(allImported)
      expect(await administerJson(siteDirectory, importing, text)).toEqual(allImported)
    })
  }

  test('records that come in pieces', async ({ siteDirectory }) => {
    const program = launch('admin/main.js', ['--data-dir', siteDirectory, '--json', ...importing])
    for (const byte of Buffer.from(jsonLines(records))) {
      await new Promise((resolve) => program.stdin.write(Buffer.from([byte]), resolve))
    }
    program.stdin.end()
    const { status, stdout } = await program.ended
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual(allImported)
  })

  test('nothing at all', async ({ siteDirectory }) => {
    const nothing = { imported: 0, skipped: 0, errors: [] }
    for (const text of ['', '\n\n', '[]']) expect(await administerJson(siteDirectory, importing, text)).toEqual(nothing)
  })
})

test('what was imported is what the service answers (T-24)', async ({ directory, start }) => {
  const { request } = await start()
  const path = '/api/v1/admin/sites/current/webforms/3'
  await administerJson(directory, importing, jsonLines(records))
  expect(await (await request(path)).json()).toMatchObject({ id: 3, name: 'Contact' })
  expect(await (await request(`${path}/fields/system`)).json()).toMatchObject({
    totalItemsCount: 2,
    items: [
      { id: -2, name: 'CustomerDetails', mandatory: true, order: 1 },
      { id: -400, name: 'Say "}],[{" \\ and ü', type: { name: 'ImageVerification' }, mandatory: false, order: 2 },
    ],
  })
})

test('importing again changes nothing, and changed records replace those of before', async ({ directory, start }) => {
  const { request } = await start()
  const read = async () => (await request('/api/v1/admin/sites/current/webforms/3/fields/system')).json()
  await administerJson(directory, importing, jsonLines(records))
  const once = await read()
  expect(await administerJson(directory, importing, jsonLines(records))).toEqual(allImported)
  expect(await read()).toEqual(once)

  const changed = [
    { kind: 'webForm', id: 3, name: 'Write to us' },
    { ...fields[0], mandatory: false, order: 5 },
  ]
  await administerJson(directory, importing, jsonLines(changed))
  expect(await (await request('/api/v1/admin/sites/current/webforms/3')).json()).toMatchObject({ name: 'Write to us' })
  expect(await read()).toMatchObject({
    items: [
      { id: -400, order: 2 },
      { id: -2, mandatory: false, order: 5 },
    ],
  })
})

test('members that are left out get sensible values', async ({ directory, start }) => {
  const { request } = await start()
  const sparse = [
    { kind: 'webForm', id: 5 },
    { kind: 'field', webFormId: 5, typeId: -3 },
    { kind: 'field', webFormId: 5, typeId: -2 },
  ]
  expect(await administerJson(directory, importing, jsonLines(sparse))).toEqual(allImported)
  expect(await (await request('/api/v1/admin/sites/current/webforms/5')).json()).toMatchObject({ name: 'Web form 5' })
  expect(await (await request('/api/v1/admin/sites/current/webforms/5/fields/system')).json()).toMatchObject({
    items: [
      { id: -3, name: 'CustomerEmailAddress', mandatory: false, order: 1 },
      { id: -2, mandatory: false, order: 2 },
    ],
  })
})

describe('a bad record is named by its line and skipped:', () => {
  const faults = [
    [
      '{"kind":',
      'it is not JSON: Unexpected end of JSON input. A file must have one record per line, or one array of records',
    ],
    ['7', 'it is not an object'],
    ['null', 'it is not an object'],
    ['[]', 'it is not an object'],
    ['{}', 'kind: must be one of category, news, blog, link, webForm, field'],
    ['{"kind":"constructor"}', 'kind: must be one of category, news, blog, link, webForm, field'],
    ['{"kind":["webForm"],"id":1}', 'kind: must be one of category, news, blog, link, webForm, field'],
    ['{"kind":"webForm","id":1,"__proto__":{"a":1}}', 'a member must not be called "__proto__"'],
    ['{"kind":"webForm"}', 'id: must be a whole number'],
    ['{"kind":"webForm","id":0}', 'id: must be 1 or more'],
    ['{"kind":"webForm","id":1.5}', 'id: must be a whole number'],
    ['{"kind":"webForm","id":"1"}', 'id: must be a whole number'],
    ['{"kind":"webForm","id":1,"name":""}', 'name: must not be empty'],
    ['{"kind":"webForm","id":1,"name":"a\\u0000b"}', 'name: must not have control characters'],
    ['{"kind":"webForm","id":1,"name":"a\\ud800"}', 'name: must be well-formed Unicode: it has half a character'],
    ['{"kind":"category","id":1,"name":"a\\udc00b"}', 'name: must be well-formed Unicode: it has half a character'],
    ['{"kind":"news","id":1,"body":"\\ud800"}', 'body: must be well-formed Unicode: it has half a character'],
    ['{"kind":"webForm","id":1,"\\u001b[2J\\n":1}', '\\u{1b}[2J\\u{a}: the record has no such member.'],
    [`{"kind":"webForm","id":1,"name":"${'x'.repeat(201)}"}`, 'name: must have 200 characters or fewer'],
    [`{"kind":"field","webFormId":1,"typeId":-2,"name":"${'x'.repeat(81)}"}`, 'name: must have 80 characters or fewer'],
    ['{"kind":"news","id":1,"roleId":3000000000}', 'roleId: must be a whole number from -2147483648 to 2147483647'],
    ['{"kind":"news","id":1,"roleId":1.5}', 'roleId: must be a whole number from -2147483648 to 2147483647'],
    ['{"kind":"blog","id":1,"createDate":7}', 'createDate: must be a date such as 2026-01-31 or 2026-01-31T12:00:00'],
    ['{"kind":"webForm","id":1,"colour":"red"}', 'colour: the record has no such member. Its members: id, name'],
    ['{"kind":"category","id":1,"colour":"red"}', 'colour: the record has no such member. Its members: id, name'],
    [
      '{"kind":"news","id":1,"colour":"red"}',
      'colour: the record has no such member. Its members: id, siteId, roleId, subject,',
    ],
    [
      '{"kind":"blog","id":1,"a":1,"b":1,"c":1,"d":1}',
      'a, b, c and 1 more: the record has no such member. Its members: id, ',
    ],
    [
      '{"kind":"link","type":"news","categoryId":1,"objectId":1,"colour":"red"}',
      'Its members: type, categoryId, objectId, displayable',
    ],
    [
      '{"kind":"field","webFormId":1,"typeId":-2,"colour":"red"}',
      'Its members: webFormId, typeId, name, mandatory, order',
    ],
    ['{"kind":"field","webFormId":9,"typeId":-2}', 'The site has no such web form. Check the id.'],
    ['{"kind":"field","webFormId":1,"typeId":-1}', 'typeId: is not a type of system field'],
    ['{"kind":"field","webFormId":1,"typeId":-2,"order":0}', 'order: must be 1 or more'],
    ['{"kind":"field","webFormId":1,"typeId":-2,"order":1e99}', 'order: must be'],
    ['{"kind":"field","webFormId":1,"typeId":-2,"order":2147483648}', 'order: must be 2147483647 or less'],
    ['{"kind":"webForm","id":1000000000000000}', 'id: must be 999999999999999 or less'],
    ['{"kind":"field","webFormId":1,"typeId":-2,"mandatory":1}', 'mandatory: must be true or false'],
  ] as const

  test('each in its own words (T-28)', async ({ siteDirectory }) => {
    const good = '{"kind":"webForm","id":1}'
    const text = faults.map(([bad]) => `${good}\n\n${bad}\n`).join('')
    const outcome = await importSome(siteDirectory, text)
    expect(outcome).toMatchObject({ imported: faults.length, skipped: faults.length })
    interface Told {
      readonly message: string
      readonly lines: readonly number[]
    }
    const messageOn = (line: number) => outcome.errors.find(({ lines }: Told) => lines.includes(line))?.message
    for (const [index, [bad, message]] of faults.entries()) {
      expect({ bad, message: messageOn(3 * index + 3) }).toEqual({ bad, message: expect.stringContaining(message) })
    }
  })

  test('once, for fields of whatever form', async ({ siteDirectory }) => {
    const fields = [7, 8, 9].map((webFormId) => JSON.stringify({ kind: 'field', webFormId, typeId: -2 }))
    expect((await importSome(siteDirectory, fields.join('\n'))).errors).toStrictEqual([
      expect.objectContaining({ lines: [1, 2, 3], message: expect.stringContaining('no such web form') }),
    ])
  })

  test('in an array too', async ({ siteDirectory }) => {
    const text = `[\n  ${JSON.stringify(form)},\n  {"kind": "webForm",\n   "id": 0},\n  {"kind" "webForm"},\n  7]`
    expect(await importSome(siteDirectory, text)).toEqual({
      imported: 1,
      skipped: 3,
      errors: [
        fault(3, 'id: must be 1 or more'),
        fault(5, expect.stringContaining('it is not JSON')),
        fault(6, 'it is not an object'),
      ],
    })
  })

  test('what stands behind an array', async ({ siteDirectory }) => {
    expect(await importSome(siteDirectory, `${JSON.stringify([form])}\n${JSON.stringify(form)}`)).toEqual({
      imported: 1,
      skipped: 1,
      errors: [fault(2, 'it comes after the end of the array')],
    })
  })

  test('the end of an array that breaks off', async ({ siteDirectory }) => {
    const text = JSON.stringify(records, null, 1)
    expect(await importSome(siteDirectory, text.slice(0, -2))).toEqual({
      imported: 2,
      skipped: 1,
      errors: [fault(14, 'the array ends here without its closing bracket')],
    })
  })

  test('one that is longer than a mebibyte', async ({ siteDirectory }) => {
    const long = { ...form, name: 'x'.repeat(1024 * 1024) }
    expect(await importSome(siteDirectory, jsonLines([form, long, form]))).toEqual({
      imported: 2,
      skipped: 1,
      errors: [fault(2, 'it is longer than 1048576 characters')],
    })
  })

  test('once for all that have the same fault, with their number and the first of their lines (T-28)', async ({
    siteDirectory,
  }) => {
    const good = jsonLines([form])
    const bad = '{"kind":"webForm","id":0}\n'.repeat(1_500)
    const text = `${bad}${good}{"kind":\n{"kin\n[\n`
    expect(await importSome(siteDirectory, text)).toEqual({
      imported: 1,
      skipped: 1_503,
      errors: [
        { line: 1, message: 'id: must be 1 or more', count: 1_500, lines: [1, 2, 3, 4, 5] },
        { line: 1_502, message: expect.stringMatching(/^it is not JSON: /), count: 3, lines: [1_502, 1_503, 1_504] },
      ],
    })
    const people = await administer(siteDirectory, importing, text)
    expect(people.stdout).toContain('1500     1, 2, 3, 4, 5, …  id: must be 1 or more\n')
  })

  test('up to a thousand different faults; all are counted', async ({ siteDirectory }) => {
    const text = Array.from({ length: 1_200 }, (_, index) => `{"kind":"webForm","id":1,"m${index}":1}\n`).join('')
    const outcome = await importSome(siteDirectory, text)
    expect(outcome).toMatchObject({ imported: 0, skipped: 1_200 })
    expect(outcome.errors.map(({ line }: { line: number }) => line)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => index + 1),
    )
  })

  test('a link whose object or category is not there', async ({ siteDirectory }) => {
    const link = { kind: 'link', type: 'news', categoryId: 1, objectId: 1 }
    const text = jsonLines([
      { kind: 'category', id: 1 },
      { kind: 'news', id: 1 },
      link,
      { ...link, objectId: 2 },
      { ...link, objectId: 3 },
      { ...link, categoryId: 2 },
    ])
    expect(await importSome(siteDirectory, text)).toEqual({
      imported: 3,
      skipped: 3,
      errors: [
        { line: 4, message: 'objectId: the site has no such news item', count: 2, lines: [4, 5] },
        fault(6, 'categoryId: the site has no such category'),
      ],
    })
  })
})

describe('import --strict', () => {
  const bad = { kind: 'webForm', id: 0 }

  test('stops at the first bad record, with status 1 and its line (T-22)', async ({ siteDirectory }) => {
    const outcome = await administer(
      siteDirectory,
      [...importing, '--strict'],
      jsonLines([form, bad, { ...form, id: 4 }]),
    )
    expect(outcome).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(siteDirectory, 'Line 2: id: must be 1 or more (1 records are imported.)'),
    })
    expect(await administerJson(siteDirectory, ['form', 'list', '--site', '1001'])).toEqual([
      { id: 3, name: 'Contact' },
    ])
  })

  test('does not wait for the rest of its input', async ({ siteDirectory }) => {
    const program = launch('admin/main.js', ['--data-dir', siteDirectory, ...importing, '--strict'])
    program.stdin.write(jsonLines([bad]))
    expect(await program.ended).toMatchObject({ status: 1 })
  })

  test('without bad records is like import', async ({ siteDirectory }) => {
    expect(await administerJson(siteDirectory, [...importing, '--strict'], jsonLines(records))).toEqual(allImported)
  })
})

describe('import is refused', () => {
  test('for a site that is not there, before it reads anything', async ({ siteDirectory }) => {
    const program = launch('admin/main.js', ['--data-dir', siteDirectory, 'import', '-', '--site', '9'])
    expect(await program.ended).toMatchObject({
      status: 1,
      stderr: refusedIn(siteDirectory, 'Site 9 does not exist. "site list" lists all sites.'),
    })
  })

  test('when the file cannot be read', async ({ siteDirectory }) => {
    const circle = join(siteDirectory, 'circle')
    symlinkSync('circle', circle)
    for (const [file, reason] of [
      [join(siteDirectory, 'missing'), 'there is no such file. Check its path.'],
      [siteDirectory, 'it is a directory. Name a file.'],
      [circle, `ELOOP: too many symbolic links encountered, open '${circle}'.`],
    ] as const) {
      const { status, stdout, stderr } = await administer(siteDirectory, ['import', file, '--site', '1001'])
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toBe(refusedIn(siteDirectory, `${file} cannot be read: ${reason}`))
    }
  })

  test('when standard input is a directory', async ({ siteDirectory }) => {
    const line = '"$node" admin/main.js --data-dir "$1" import - --site 1001 < "$1"'
    expect(await runInShell(line, [siteDirectory])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(siteDirectory, 'Standard input cannot be read: it is a directory. Name a file.'),
    })
  })

  test('when the file is not UTF-8, before anything of it is imported', async ({ siteDirectory }) => {
    const file = join(siteDirectory, 'records')
    // More than is read at once.
    const many = Array.from({ length: 3_000 }, (_, index) => ({ ...form, id: index + 1 }))
    const latin1 = Buffer.from('{"kind":"webForm","id":4,"name":"Caf\xe9"}\n', 'latin1')
    await writeFile(file, Buffer.concat([Buffer.from(jsonLines(many)), latin1]))
    expect(await administer(siteDirectory, ['import', file, '--site', '1001'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(
        siteDirectory,
        `${file} was not imported: line 3001 is not valid UTF-8. Save it in UTF-8, and import it again.`,
      ),
    })
    expect(await administerJson(siteDirectory, ['form', 'list', '--site', '1001'])).toEqual([])
  })

  test('when standard input is not UTF-8, from there on', async ({ siteDirectory }) => {
    const program = launch('admin/main.js', ['--data-dir', siteDirectory, ...importing])
    program.stdin.end(Buffer.concat([Buffer.from(jsonLines([form])), Buffer.from([0xff])]))
    expect(await program.ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(
        siteDirectory,
        'Standard input was imported only in part: line 2 is not valid UTF-8. Save it in UTF-8, ' +
          'and import it again: importing again is safe.',
      ),
    })
  })
})

test('import keeps the replacement character where the file has it', async ({ siteDirectory }) => {
  const named = { ...form, name: 'a\uFFFDb' }
  await administerJson(siteDirectory, importing, jsonLines([named]))
  expect(await administerJson(siteDirectory, ['form', 'list', '--site', '1001'])).toEqual([{ id: 3, name: 'a\uFFFDb' }])
})
