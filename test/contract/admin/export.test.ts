import { execFileSync } from 'node:child_process'
import {
  createReadStream,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { commandsOn, jsonLines, refusal } from '../../support/administration.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { snapshotOf } from '../../support/directory-snapshot.ts'
import { answersOfEveryList } from '../../support/every-list.ts'
import { messages } from '../../support/messages.ts'
import { oddRecords } from '../../support/odd-records.ts'
import { failing } from '../../support/outcomes.ts'
import { runInShell } from '../../support/program.ts'
import { test as base } from '../../support/test.ts'

const test = base.extend('outside', async ({ onTestFinished }) => scratchDirectory(onTestFinished))

const load = 'import - --site 1001'
const exportTo = (file: string) => `export --site 1001 --out ${file}`

test('an export and its import into an empty site give the same lists (T-29)', async ({ directory, outside, host }) => {
  const { baseUrl, siteId, token } = await host()
  const { run, attempt } = commandsOn(directory)
  await run(`import - --site ${siteId}`, jsonLines(oddRecords))
  const file = join(outside, 'export.jsonl')
  const reported = await run(`export --site ${siteId} --out ${file}`)
  const { id } = await run('site create --name Empty')
  const imported = await run(`import ${file} --site ${id}`)
  expect(imported).toEqual({ imported: reported.exported, skipped: 0, errors: [] })
  const other = await run(`token issue --user ann --site ${id}`)

  const before = await answersOfEveryList({ baseUrl, token, site: siteId })
  const after = await answersOfEveryList({ baseUrl, token: other.token, site: id })
  expect(before.size).toBeGreaterThan(20)
  expect(after).toEqual(before)

  for (const out of ['', ' --out -'])
    expect((await attempt(`export --site ${id}${out}`)).stdout).toBe(readFileSync(file, 'utf8'))
})

test('an export that fails keeps the old file, and leaves no other file', async ({ commands, outside }) => {
  const file = join(outside, 'site.jsonl')
  writeFileSync(file, 'before')
  expect(await commands.attempt(`export --site 9 --out ${file}`)).toMatchObject({ status: 1, stdout: '' })
  expect(readFileSync(file, 'utf8')).toBe('before')
  expect(readdirSync(outside)).toEqual(['site.jsonl'])
})

test('an unwritable file is refused in one line', async ({ commands: { attempt }, siteDirectory, outside }) => {
  for (const [file, reason] of [
    [join(outside, 'none', 'site.jsonl'), 'its folder does not exist. Create the folder first, or name another file.'],
    [outside, messages.file.isDirectory],
    ['/', messages.file.isDirectory],
  ] as const) {
    expect(await attempt(exportTo(file))).toEqual(refusal(siteDirectory, `${file} cannot be written: ${reason}`))
  }
})

test('an export never writes into the data directory', async ({ commands: { attempt }, siteDirectory, outside }) => {
  const [link, folder] = [join(outside, 'link'), join(outside, 'folder')]
  symlinkSync(join(siteDirectory, 'site-admin.db'), link)
  symlinkSync(siteDirectory, folder)
  const before = snapshotOf(siteDirectory)
  for (const out of [
    join(siteDirectory, 'site-admin.db'),
    join(siteDirectory, 'blobs', 'new.jsonl'),
    link,
    join(folder, 'site-admin.json'),
  ]) {
    expect(await attempt(exportTo(out))).toEqual(failing(messages.file.insideData(out)))
  }
  expect(snapshotOf(siteDirectory)).toEqual(before)
})

test('an export follows a link, writes into a pipe, and replaces neither', async ({ commands: { run }, outside }) => {
  await run(load, jsonLines(oddRecords))
  const [file, link, pipe] = [join(outside, 'site.jsonl'), join(outside, 'link'), join(outside, 'pipe')]
  writeFileSync(file, 'before')
  symlinkSync('site.jsonl', link)
  execFileSync('mkfifo', [pipe])

  expect(await run(exportTo(link))).toEqual({ exported: oddRecords.length, file: link })
  expect(readlinkSync(link)).toBe('site.jsonl')
  const taken = text(createReadStream(pipe))
  await run(exportTo(pipe))
  expect(lstatSync(pipe).isFIFO()).toBe(true)
  expect(await taken).toBe(readFileSync(file, 'utf8'))
  expect(readdirSync(outside).filter((name) => name.includes('partial'))).toEqual([])
})

test('an export fails if the reader of its output stops too early', async ({ commands: { run }, siteDirectory }) => {
  const many = Array.from({ length: 3_000 }, (_, index) => ({ kind: 'news', id: index + 1, body: 'x'.repeat(200) }))
  await run(load, jsonLines(many))
  const line = 'set -o pipefail; "$node" admin/main.js --data-dir "$1" export --site 1001 | head -n 1'
  expect(await runInShell(line, [siteDirectory])).toMatchObject({
    ...refusal(siteDirectory, messages.output.exportIncomplete),
    stdout: expect.stringMatching(/^{"kind":"news","id":1,/),
  })
})
