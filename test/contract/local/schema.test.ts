import { expect, test } from 'vitest'
import { prepareSchema } from '../../../lib/machine/sqlite/schema.ts'
import { messages } from '../../support/messages.ts'
import { scratchDatabase, scratchFile } from '../../support/scratch-database.ts'

const open = (file?: string) => scratchDatabase(file).connection

test('a new database gets all tables, each of them strict', () => {
  const connection = open()
  prepareSchema(connection)
  const tables = connection.prepare("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").all()
  const own = tables.filter(({ name }) => !/^(?:sqlite_|name_index)/.test(String(name)))
  expect(own.length).toBeGreaterThan(10)
  expect(own.filter(({ strict }) => strict !== 1)).toEqual([])
  expect(connection.prepare('PRAGMA user_version').get()).toEqual({ user_version: 10 })
})

test.each([
  ['a newer version', 'PRAGMA user_version = 11', messages.directory.newer(11)],
  ['a version that was not released', 'DROP TABLE backups; PRAGMA user_version = 6', messages.directory.unreleased(6)],
])('tables of %s are refused with a message, and left unchanged', (_, sql, sentence) => {
  const connection = open()
  prepareSchema(connection)
  connection.exec(sql)
  const before = connection.prepare('SELECT * FROM sqlite_schema').all()
  expect(() => prepareSchema(connection)).toThrow(sentence)
  expect(connection.prepare('SELECT * FROM sqlite_schema').all()).toEqual(before)
})

test.each([
  ['news', 'news_links_by_object'],
  ['blogs', 'blog_links_by_object'],
])('removing %s does not read all links of the site', (table, index) => {
  const file = scratchFile()
  prepareSchema(open(file))
  const connection = open(file)
  const steps = connection.prepare(`EXPLAIN DELETE FROM ${table} WHERE site = ? AND id = ?`).all()
  const opened = steps.filter(({ opcode }) => opcode === 'OpenRead').map(({ p2 }) => p2)
  const root = connection.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(index)?.['rootpage']
  expect(opened).toContain(root)
})

test('removing a file does not read all files to find copies', () => {
  const connection = open()
  prepareSchema(connection)
  const [step] = connection.prepare('EXPLAIN QUERY PLAN SELECT 1 FROM objects WHERE blob = ? LIMIT 1').all('a')
  expect(step?.['detail']).toContain('USING COVERING INDEX objects_by_blob (blob=?)')
})
