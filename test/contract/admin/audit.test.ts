import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect } from 'vitest'
import { createProgram } from '../../../admin/program.ts'
import { changeTypes } from '../../../lib/core/history-entry.ts'
import { administer } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

interface Change {
  readonly id: string
  readonly at: string
  readonly type: string
  readonly subject: string
  readonly actor: string
  readonly requestId: null
  readonly details: object | null
}

/** Runs a command in this process. Answers its exit status, and what it has printed. */
const command = async (directory: string, ...args: string[]) => {
  const { status, stdout, stderr } = await administer(directory, ['--json', ...args])
  return { status, printed: stdout, complaint: stderr }
}

const audit = async (directory: string, ...options: string[]): Promise<readonly Change[]> => {
  const { status, printed, complaint } = await command(directory, 'audit', '--site', '1001', ...options)
  if (status !== 0) throw new Error(complaint)
  return JSON.parse(printed)
}

/** The commands that change a site, in an order in which all of them succeed, each with what the history says of it. */
const changing: readonly (readonly [name: string, args: readonly string[], type: string, subject: RegExp])[] = [
  ['site create', ['--name', 'Own', '--id', '1001'], 'site.created', /^site\/1001$/],
  ['token issue', ['--user', 'ann', '--site', '1001'], 'token.created', /^token\/[0-9a-f]{12}$/],
  ['token revoke', ['TOKEN'], 'token.removed', /^token\/[0-9a-f]{12}$/],
  ['site rename', ['1001', '--name', 'Ours'], 'site.changed', /^site\/1001$/],
  ['form create', ['--site', '1001', '--name', 'Contact us'], 'form.created', /^form\/1$/],
  ['form rename', ['1', '--site', '1001', '--name', 'Write to us'], 'form.changed', /^form\/1$/],
  ['form remove', ['1', '--site', '1001', '--yes'], 'form.removed', /^form\/1$/],
  ['category create', ['--site', '1001', '--name', 'Five'], 'category.created', /^category\/1$/],
  ['category rename', ['1', '--site', '1001', '--name', 'Six'], 'category.changed', /^category\/1$/],
  ['object create', ['news', '--site', '1001', '--id', '7'], 'object.created', /^news\/7$/],
  ['import', ['FILE', '--site', '1001'], 'content.imported', /^news$/],
  ['object remove', ['news', '1', '--site', '1001', '--yes'], 'object.removed', /^news\/1$/],
  ['category remove', ['1', '--site', '1001', '--yes'], 'category.removed', /^category\/1$/],
  ['workflow start', ['a.html', '--site', '1001'], 'workflow.created', /^a\.html$/],
  ['workflow end', ['a.html', '--site', '1001'], 'workflow.removed', /^a\.html$/],
  ['site remove', ['1001', '--yes'], 'site.removed', /^site\/1001$/],
]

/**
 * Those that change no site. Data centres have no history. A backup is none of the sites' own, and comes back with the
 * history that it has.
 */
const others = [
  ...[
    'audit',
    'backup',
    'category list',
    'check',
    'completion',
    'data-centre add',
    'data-centre list',
    'export',
    'form list',
  ],
  ...['object list', 'object show', 'restore', 'serve', 'site list', 'site show', 'token list', 'workflow list'],
]

const namesOf = (parent: Command, before: readonly string[] = []): string[] =>
  parent.commands.flatMap((child) => {
    const name = [...before, child.name()]
    return child.commands.length > 0 ? namesOf(child, name) : [name.join(' ')]
  })

describe('the history of a site', () => {
  test('is asked for each command that there is', () => {
    expect(namesOf(createProgram()).sort()).toEqual([...changing.map(([name]) => name), ...others].sort())
  })

  test('has an entry of each command that changes the site, under the name of who gave it (H-3, H-5)', async ({
    dataDirectory,
  }) => {
    const file = join(dataDirectory, '..', `${Date.now()}.json`)
    await writeFile(file, '{"kind": "news", "id": 1, "subject": "One"}')
    await command(dataDirectory, 'data-centre', 'add', 'us', '--url', 'http://127.0.0.1:4000')
    const said: string[] = []
    let token = ''
    for (const [name, args, type, subject] of changing) {
      const given = args.map((arg) => ({ TOKEN: token, FILE: file })[arg] ?? arg)
      const { status, printed, complaint } = await command(dataDirectory, ...name.split(' '), ...given)
      expect({ name, status, complaint }).toEqual({ name, status: 0, complaint: '' })
      token = JSON.parse(printed).token ?? token
      const changes = await audit(dataDirectory)
      const newest = changes.at(-1)
      expect(newest).toMatchObject({ type, requestId: null, subject: expect.stringMatching(subject) })
      expect(newest?.actor).toMatch(/^admin:./)
      said.push(type)
      expect(changes.map((change) => change.type)).toEqual(said)
    }
    expect(JSON.stringify(await audit(dataDirectory))).not.toContain(token)
  })

  test('is narrowed by type, actor and time', async ({ siteDirectory }) => {
    await command(siteDirectory, 'form', 'create', '--site', '1001', '--name', 'Contact us')
    const typesBy = async (...options: string[]) => (await audit(siteDirectory, ...options)).map(({ type }) => type)
    expect(await typesBy('--since', '2d')).toEqual(['site.created', 'form.created'])
    expect(await typesBy('--type', 'form.created')).toEqual(['form.created'])
    expect(await typesBy('--actor', 'nobody')).toEqual([])
    const [{ actor } = { actor: '' }] = await audit(siteDirectory)
    expect(await typesBy('--actor', actor)).toHaveLength(2)
  })

  test.for([
    [['--site', '9'], 1, /Site 9 does not exist/],
    [['--site', 'x'], 2, /whole number/],
    [['--site', '1001', '--since', '2 days'], 2, /30m, 4h, 2d/],
    [['--site', '1001', '--since', '0d'], 2, /30m, 4h, 2d/],
    [['--site', '1001', '--type', 'file.eaten'], 2, /type of change/],
    [[], 2, /--site/],
  ] as const)('is refused for %j', async ([options, status, sentence], { siteDirectory }) => {
    const outcome = await command(siteDirectory, 'audit', ...options)
    expect(outcome.status).toBe(status)
    expect(outcome.complaint).toMatch(sentence)
  })

  test('knows every type by its name', () => {
    expect(new Set(changeTypes).size).toBe(changeTypes.length)
    for (const [, , type] of changing) expect(changeTypes).toContain(type)
  })
})
