import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect } from 'vitest'
import { createProgram } from '../../../../admin/program.ts'
import { administerApart } from '../../../support/administration.ts'
import { scratchDirectory } from '../../../support/directory.ts'
import { test } from '../../../support/test.ts'

const records = [
  { kind: 'news', id: 36, subject: 'Open' },
  { kind: 'link', type: 'news', categoryId: 1, objectId: 36 },
]

/** Every command but `serve`, in an order in which each has something to do. Other tests start the service. */
const commandLines = [
  'data-centre add eu --url https://eu.example.com',
  'data-centre list',
  'site create --name Market',
  'site list',
  'site show 1001',
  'site rename 1001 --name Fair',
  'token issue --user ann --site 1001',
  'token list',
  'token revoke {hash}',
  'form create --site 1001 --name Contact',
  'form list --site 1001',
  'form rename 1 --site 1001 --name Questions',
  'form remove 1 --site 1001 --yes',
  'category create --site 1001 --name News',
  'category list --site 1001',
  'category rename 1 --site 1001 --name Press',
  'import {records} --site 1001',
  'export --site 1001 --out {exported}',
  'object create blog --site 1001',
  'object list news --site 1001',
  'object show news 36 --site 1001',
  'object remove news 36 --site 1001 --yes',
  'category remove 1 --site 1001 --yes',
  'workflow start index.html --site 1001',
  'workflow list --site 1001',
  'workflow end index.html --site 1001',
  'audit --site 1001',
  'backup {backup}',
  'check',
  'site remove 1001 --yes',
]

const leavesOf = (command: Command, names: readonly string[] = []): readonly string[] =>
  command.commands.length === 0
    ? [names.join(' ')]
    : command.commands.flatMap((child) => leavesOf(child, [...names, child.name()]))

test('every command of site-admin runs as a program of its own', {
  timeout: 60_000,
}, async ({ siteDirectory }) => {
  const directory = scratchDirectory()
  const places = { records: join(directory, 'in'), exported: join(directory, 'out'), backup: join(directory, 'backup') }
  await writeFile(places.records, records.map((record) => JSON.stringify(record)).join('\n'))
  let hash = ''
  const runOn = async (data: string, line: string) => {
    const known: Readonly<Record<string, string>> = {
      '{records}': places.records,
      '{exported}': places.exported,
      '{backup}': places.backup,
      '{hash}': hash,
    }
    const args = line.split(' ').map((word) => known[word] ?? word)
    const { status, stdout, stderr } = await administerApart(data, ['--json', ...args])
    expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: expect.any(String) })
    hash = /"hash":"(\w{64})"/.exec(stdout)?.[1] ?? hash
  }
  for (const line of commandLines) await runOn(siteDirectory, line)
  await runOn(join(directory, 'restored'), 'restore {backup}')
  await runOn(siteDirectory, 'completion bash')
  const tried = [...commandLines, 'restore', 'completion', 'serve']
  expect(leavesOf(createProgram()).filter((leaf) => !tried.some((line) => `${line} `.startsWith(`${leaf} `)))).toEqual(
    [],
  )
})
