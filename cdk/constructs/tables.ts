import type { Stack } from 'aws-cdk-lib'
import { type ITable, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import type { TableName } from '../../lib/aws/tables.ts'
import { globalTableName, globalTables, regionalTables, tableOutput } from '../naming.ts'
import { homeRegion, type Settings } from '../settings.ts'
import { createTable } from './table.ts'

export type Tables = Readonly<Record<TableName, ITable>>

/** Every table that the functions of a data centre work on: those of the directory, found by name, and its own. */
export const createTables = (stack: Stack, settings: Settings): Tables => {
  const region = settings.replicateDirectory ? stack.region : homeRegion(settings)
  const directory = globalTables.map((name) => {
    const resourceName = globalTableName(settings.prefix, name)
    const tableArn = stack.formatArn({ service: 'dynamodb', region, resource: 'table', resourceName })
    return [name, TableV2.fromTableArn(stack, tableOutput(name), tableArn)] as const
  })
  const own = regionalTables.map((name) => [name, createTable(stack, name, settings)] as const)
  return Object.fromEntries([...directory, ...own]) as Tables
}

/** Those of the tables that are in the region, where their figures can be watched. */
export const tablesIn = (tables: Tables, region: string): Readonly<Record<string, ITable>> =>
  Object.fromEntries(Object.entries(tables).filter(([, table]) => table.env.region === region))
