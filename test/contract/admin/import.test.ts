import { symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { jsonLines, refusal } from '../../support/administration.ts'
import { badRecords, messages } from '../../support/messages.ts'
import { launch, runInShell } from '../../support/program.ts'
import { test as base } from '../../support/test.ts'

const importing = 'import - --site 1001'

const form = { kind: 'webForm', id: 3, name: 'Contact' }
const fields = [
  { kind: 'field', webFormId: 3, typeId: -2, mandatory: true, order: 1 },
  { kind: 'field', webFormId: 3, typeId: -400, name: 'Say "}],[{" \\ and ü', mandatory: false, order: 2 },
]
const records = [form, ...fields]
const fieldAt = (typeId: number, order: number) => ({ kind: 'field', webFormId: 3, typeId, order })

const test = base.extend(
  'importSome',
  ({ commands: { attempt } }) =>
    /** Imports records and returns the outcome. Some records may be bad. */
    async (text: string) => {
      const { status, stdout, stderr } = await attempt(`--json ${importing}`, text)
      const outcome = JSON.parse(stdout)
      expect({ status, stderr }).toEqual({ status: outcome.skipped > 0 ? 1 : 0, stderr: '' })
      return outcome
    },
)

const allImported = { imported: 3, skipped: 0, errors: [] }

test.for([
  ['JSON lines', jsonLines(records)],
  ['one JSON array', JSON.stringify(records)],
] as const)('import accepts %s, also from a pipe (T-23)', async ([, text], { commands: { run }, siteDirectory }) => {
  const file = join(siteDirectory, 'records')
  await writeFile(file, text)
  expect(await run(`import ${file} --site 1001`)).toEqual(allImported)
  expect(await run(importing, text)).toEqual(allImported)
})

test('the longest text can be imported, even if JSON escapes all of it (T-29)', async ({ commands: { run } }) => {
  const longest = { kind: 'news', id: 1, body: '\u0001'.repeat(350_000) }
  expect(await run(importing, jsonLines([longest]))).toMatchObject({ imported: 1, skipped: 0 })
})

test('an address that is cut contains only whole characters (T-24, T-29)', async ({
  importSome,
  commands: { attempt },
}) => {
  await importSome(jsonLines([{ kind: 'news', id: 1, slug: `${'a'.repeat(493)}😀` }]))
  const [item = ''] = (await attempt('export --site 1001')).stdout.trim().split('\n')
  expect(JSON.parse(item)).toMatchObject({ url: `/news/${'a'.repeat(493)}` })
  expect(await importSome(`${item}\n`)).toMatchObject({ imported: 1, skipped: 0 })
})

test('a field without room at its order leaves other imported fields alone', async ({ importSome }) => {
  const largest = 2_147_483_647
  await importSome(jsonLines([form, fieldAt(-2, largest), fieldAt(-3, 1)]))
  const outcome = await importSome(jsonLines([fieldAt(-4, 5), fieldAt(-3, largest)]))
  expect(outcome).toMatchObject({ imported: 1, skipped: 1, errors: [{ line: 2, lines: [2] }] })
})

test('a field gets its order, in any order of records (T-24, T-27)', async ({ importSome, commands: { attempt } }) => {
  await importSome(jsonLines([form, fieldAt(-2, 4)]))
  const expected = [fieldAt(-7, 4), fieldAt(-4, 5), fieldAt(-3, 6), fieldAt(-2, 7)]
  for (let time = 0; time < 2; time++) {
    await importSome(jsonLines([fieldAt(-3, 6), fieldAt(-4, 5), fieldAt(-7, 4)]))
    const [, ...lines] = (await attempt('export --site 1001')).stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(expected)
  }
})

test('a bad record is skipped, and a message names the fault (T-28)', async ({ importSome }) => {
  const good = '{"kind":"webForm","id":1}'
  const text = badRecords.map(([bad]) => `${good}\n\n${bad}\n`).join('')
  const outcome = await importSome(text)
  expect(outcome).toMatchObject({ imported: badRecords.length, skipped: badRecords.length })
  interface ReportedFault {
    readonly message: string
    readonly lines: readonly number[]
  }
  const messageOn = (line: number) => outcome.errors.find(({ lines }: ReportedFault) => lines.includes(line))?.message
  for (const [index, [bad, message]] of badRecords.entries()) {
    expect({ bad, message: messageOn(3 * index + 3) }).toEqual({ bad, message: expect.stringContaining(message) })
  }
})

test('a repeated fault is shown once, with count and lines (T-28)', async ({ importSome, commands: { attempt } }) => {
  const good = jsonLines([form])
  const bad = '{"kind":"webForm","id":0}\n'.repeat(1_500)
  const text = `${bad}${good}{"kind":\n{"kin\n[\n`
  expect(await importSome(text)).toEqual({
    imported: 1,
    skipped: 1_503,
    errors: [
      { line: 1, message: messages.record.least('id'), count: 1_500, lines: [1, 2, 3, 4, 5] },
      { line: 1_502, message: expect.stringMatching(/JSON/), count: 3, lines: [1_502, 1_503, 1_504] },
    ],
  })
  const table = `1500     1, 2, 3, 4, 5, …  ${messages.record.least('id')}\n`
  expect((await attempt(importing, text)).stdout).toContain(table)
})

test('a thousand different faults are reported, and all are counted', async ({ importSome }) => {
  const text = Array.from({ length: 1_200 }, (_, index) => `{"kind":"webForm","id":1,"m${index}":1}\n`).join('')
  const outcome = await importSome(text)
  expect(outcome).toMatchObject({ imported: 0, skipped: 1_200 })
  expect(outcome.errors.map(({ line }: { line: number }) => line)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => index + 1),
  )
})

const bad = { kind: 'webForm', id: 0 }

test('import --strict stops at the first bad record (T-22)', async ({ commands: { run, attempt }, siteDirectory }) => {
  const outcome = await attempt(`${importing} --strict`, jsonLines([form, bad, { ...form, id: 4 }]))
  const reason = `Line 2: ${messages.record.least('id')} (Imported records: 1.)`
  expect(outcome).toEqual(refusal(siteDirectory, reason))
  expect(await run('form list --site 1001')).toEqual([{ id: 3, name: 'Contact' }])
})

test('import --strict does not wait for the rest of its input', async ({ siteDirectory }) => {
  const program = launch('admin/main.js', ['--data-dir', siteDirectory, ...importing.split(' '), '--strict'])
  program.stdin.write(jsonLines([bad]))
  expect(await program.ended).toMatchObject({ status: 1 })
})

test('an import into an unknown site is refused before anything is read', async ({ siteDirectory }) => {
  const program = launch('admin/main.js', ['--data-dir', siteDirectory, 'import', '-', '--site', '9'])
  expect(await program.ended).toMatchObject(refusal(siteDirectory, messages.site.missing(9)))
})

test('an import is refused when the file cannot be read', async ({ commands: { attempt }, siteDirectory }) => {
  const circle = join(siteDirectory, 'circle')
  symlinkSync('circle', circle)
  for (const [file, reason] of [
    [join(siteDirectory, 'missing'), 'this file does not exist. Check the path.'],
    [siteDirectory, messages.file.isDirectory],
    [circle, `ELOOP: too many symbolic links encountered, open '${circle}'.`],
  ] as const) {
    const refused = refusal(siteDirectory, messages.file.unreadable(file, reason))
    expect(await attempt(`import ${file} --site 1001`)).toEqual(refused)
  }
})

test('an import is refused when standard input is a directory', async ({ siteDirectory }) => {
  const line = '"$node" admin/main.js --data-dir "$1" import - --site 1001 < "$1"'
  const reason = messages.file.unreadable('Standard input', messages.file.isDirectory)
  expect(await runInShell(line, [siteDirectory])).toMatchObject(refusal(siteDirectory, reason))
})

test('an import of a file that is not UTF-8 imports nothing', async ({ commands: { run, attempt }, siteDirectory }) => {
  const file = join(siteDirectory, 'records')
  // More bytes than one read returns.
  const many = Array.from({ length: 3_000 }, (_, index) => ({ ...form, id: index + 1 }))
  const latin1 = Buffer.from('{"kind":"webForm","id":4,"name":"Caf\xe9"}\n', 'latin1')
  await writeFile(file, Buffer.concat([Buffer.from(jsonLines(many)), latin1]))
  const refused = refusal(siteDirectory, messages.file.notUtf8(file, 3001))
  expect(await attempt(`import ${file} --site 1001`)).toEqual(refused)
  expect(await run('form list --site 1001')).toEqual([])
})

test('invalid UTF-8 on standard input ends an import, and earlier records stay', async ({ siteDirectory }) => {
  const program = launch('admin/main.js', ['--data-dir', siteDirectory, ...importing.split(' ')])
  program.stdin.end(Buffer.concat([Buffer.from(jsonLines([form])), Buffer.from([0xff])]))
  expect(await program.ended).toMatchObject(refusal(siteDirectory, messages.file.partlyUtf8(2)))
})
