import type { SQLOutputValue } from 'node:sqlite'
import { contentKinds } from '../../core/content-kinds.ts'
import { areas, toStoragePath } from '../../storage/path.ts'
import { contentTables } from '../sqlite/tables.ts'
import type { Fault } from './backup-marker.ts'

type Row = Readonly<Record<string, SQLOutputValue>>

export interface Question {
  readonly query: string
  readonly faultOf: (row: Row, database: string) => Fault | undefined
}

const are = (json: string, type: string, names: readonly string[], at = "'$.") =>
  names.map((name) => `json_type(${json}, ${at}${name}') IS '${type}'`).join(' AND ')

const isListOf = (json: string, items: string) =>
  `json_type(${json}) = 'array' AND NOT EXISTS (SELECT 1 FROM json_each(${json}) WHERE NOT (${items}))`

/** Conditions for JSON that the service can read. */
const json: readonly (readonly [table: string, key: string, column: string, isRight: string])[] = [
  ...contentKinds.map((kind) => [contentTables[kind].table, 'site, id', 'members', "members ->> 'id' IS id"] as const),
  ['grants', 'user', 'sites', isListOf('sites', "type = 'integer'")],
  ['grants', 'user', 'permissions', isListOf('permissions', "type = 'text'")],
  [
    'web_forms',
    'site, id',
    'fields',
    isListOf('fields', are('fields', 'integer', ['typeId', 'order'], "fullkey || '.")),
  ],
  ['uploads', 'site, id', 'target', are('target', 'text', ['path', 'key', 'contentType'])],
  ['folder_removals', 'site, folder', 'entry', are('entry', 'text', ['type', 'subject', 'actor'])],
  ['changes', 'site, id', 'details', "json_type(details) = 'object'"],
]

const isPath = (text: string): boolean => {
  try {
    return toStoragePath(text) === text
  } catch {
    return false
  }
}

const startOfKey = new RegExp(`^(${areas.join('|')})/[1-9]\\d{0,14}/`)

const isKey = (text: string): boolean =>
  startOfKey.test(text) && isPath(text.replace(startOfKey, '').replace(/\/$/, ''))

const paths: readonly (readonly [table: string, key: string, column: string, isRight: typeof isPath])[] = [
  ['objects', 'key', 'key', isKey],
  ['old_objects', 'key', 'key', isKey],
  ['folder_removals', 'site, folder', 'folder', isPath],
  ['removal_queue', 'site, path', 'path', isPath],
]

const unreadable = (table: string, column: string, row: Row): Fault => ({
  where: [`table ${table}`, ...Object.entries(row).map((entry) => entry.join(' '))].join(', '),
  fault: `the service cannot read its ${column}. Put the database back from a backup`,
})

/** A database may come from anywhere. Requests for such a row fail, or lead elsewhere. */
export const rowQuestions: readonly Question[] = [
  ...json.map(([table, key, column, isRight]) => ({
    query: `SELECT ${key} FROM ${table} WHERE ${column} IS NOT NULL AND NOT iif(json_valid(${column}), ${isRight}, 0)`,
    faultOf: (row: Row) => unreadable(table, column, row),
  })),
  ...paths.map(([table, key, column, isRight]) => ({
    query: `SELECT ${key} FROM ${table}`,
    faultOf: (row: Row) => (isRight(String(row[column])) ? undefined : unreadable(table, column, row)),
  })),
]
