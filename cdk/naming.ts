import { type TableName, tables } from '../lib/aws/tables.ts'
import type { FunctionName } from './functions.ts'

/** `webForms` → `WebFormsTable`: the output by which the administration tool finds a table. */
export const tableOutput = (name: TableName): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Table`

export const functionName = (name: FunctionName): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Function`

const names = Object.keys(tables) as TableName[]

export const globalTables = names.filter((name) => tables[name].global)
export const regionalTables = names.filter((name) => !tables[name].global)

/** Global tables are found by name from every region. */
export const globalTableName = (prefix: string, name: TableName): string => `${prefix}-${name}`
