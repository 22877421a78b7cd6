import type { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { prepareSchema } from '../../../lib/machine/sqlite/schema.ts'
import { makeEarlier } from '../../support/earlier-tables.ts'
import { scratchDatabase, scratchFile } from '../../support/scratch-database.ts'

const open = (file?: string) => scratchDatabase(file).connection

/** The columns of every table. */
const columnsOf = (connection: DatabaseSync): Readonly<Record<string, readonly string[]>> => {
  const columns = connection
    .prepare(
      `SELECT one.name AS tableName, their.name || ' ' || their.type AS described FROM sqlite_schema AS one, pragma_table_info(one.name) AS their
       WHERE one.type = 'table' ORDER BY tableName, their.cid`,
    )
    .all()
  const byTable = Map.groupBy(columns, ({ tableName }) => String(tableName))
  return Object.fromEntries([...byTable].map(([name, own]) => [name, own.map(({ described }) => String(described))]))
}

const newTables = () => {
  const connection = open()
  prepareSchema(connection)
  return connection
}

describe('the tables of a machine', () => {
  test('are made in a new database, of which everything is strict', () => {
    const connection = open()
    prepareSchema(connection)
    const tables = connection.prepare("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").all()
    const own = tables.filter(({ name }) => !String(name).startsWith('sqlite_'))
    expect(own.length).toBeGreaterThan(10)
    expect(own.filter(({ strict }) => strict !== 1)).toEqual([])
    expect(connection.prepare('PRAGMA user_version').get()).toEqual({ user_version: 6 })
  })

  test('are taken as they are the next time', () => {
    const file = scratchFile()
    const connection = open(file)
    prepareSchema(connection)
    connection.exec("INSERT INTO workflows (site, page) VALUES (1, 'a.html')")
    const again = open(file)
    prepareSchema(again)
    expect(again.prepare('SELECT page FROM workflows').all()).toEqual([{ page: 'a.html' }])
  })

  test('of the version before are taken to this one, with what is in them, and are then as new ones', () => {
    const file = scratchFile()
    const connection = open(file)
    prepareSchema(connection)
    connection.exec("INSERT INTO objects VALUES ('live/1/a.txt', 'b', 1, 2, 'text/plain', 'b', NULL)")
    makeEarlier(connection)
    const again = open(file)
    prepareSchema(again)
    expect(columnsOf(again)).toEqual(columnsOf(newTables()))
    expect(again.prepare('PRAGMA user_version').get()).toEqual({ user_version: 6 })
    expect(again.prepare('SELECT * FROM objects').all()).toEqual([
      {
        key: 'live/1/a.txt',
        blob: 'b',
        size: 1,
        modified: 2,
        type: 'text/plain',
        version: 'b',
        fingerprint: null,
      },
    ])
  })

  test('of the version before stay as they are when the step to this one breaks off', () => {
    const connection = open()
    prepareSchema(connection)
    makeEarlier(connection)
    connection.exec('CREATE TABLE secrets (name TEXT)')
    expect(() => prepareSchema(connection)).toThrow('already exists')
    expect(connection.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 })
    expect(columnsOf(connection)['objects']).not.toContain('fingerprint TEXT')
  })

  test('are taken further by one process while others wait for it', () => {
    const file = scratchFile()
    const [first, second] = [open(file), open(file)]
    prepareSchema(first)
    makeEarlier(first)
    prepareSchema(second)
    prepareSchema(first)
    expect(columnsOf(first)).toEqual(columnsOf(second))
  })

  test('of a newer version are refused with a sentence, and left alone', () => {
    const connection = open()
    prepareSchema(connection)
    connection.exec('PRAGMA user_version = 7')
    expect(() => prepareSchema(connection)).toThrow(
      'The database has tables of version 7, and this program knows those of version 6.',
    )
  })

  test('of another program are refused with a sentence, and left alone', () => {
    const connection = open()
    connection.exec('CREATE TABLE letters (text TEXT)')
    expect(() => prepareSchema(connection)).toThrow('which this program has not made')
    expect(connection.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'letters' }])
  })

  test.each([
    ['news', 'news_links_by_object'],
    ['blogs', 'blog_links_by_object'],
  ])('let %s go without looking through all links of the site', (table, index) => {
    const file = scratchFile()
    prepareSchema(open(file))
    const connection = open(file)
    const steps = connection.prepare(`EXPLAIN DELETE FROM ${table} WHERE site = ? AND id = ?`).all()
    const opened = steps.filter(({ opcode }) => opcode === 'OpenRead').map(({ p2 }) => p2)
    const root = connection.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(index)?.['rootpage']
    expect(opened).toContain(root)
  })

  test('let a file go without looking through all others for a copy', () => {
    const connection = open()
    prepareSchema(connection)
    const [step] = connection.prepare('EXPLAIN QUERY PLAN SELECT 1 FROM objects WHERE blob = ? LIMIT 1').all('a')
    expect(step?.['detail']).toContain('USING COVERING INDEX objects_by_blob (blob=?)')
  })
})
