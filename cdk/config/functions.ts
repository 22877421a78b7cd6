import { join } from 'node:path'
import { Duration } from 'aws-cdk-lib'
import { referenceFiles } from '../../lib/contract/documentation/reference-assets.ts'
import type { prefixes } from '../../lib/contract/routes/routes.ts'

export type ServedGroup = (typeof prefixes)[number]['group']

export interface FunctionSettings {
  /** Its file below functions/. */
  readonly entry: string
  readonly description: string
  /** In MB. Processor time grows with it: a cold start is mostly processor time. */
  readonly memorySize: number
  /** The gateway gives up after 29 seconds; a function behind it ends before that, with an answer. */
  readonly timeout: Duration
  /** Whether it invokes itself, by way of a queue: Lambda stops a chain of about 16 invocations unless it is told that it is meant. */
  readonly goesOnByItself?: boolean
  /** Files of packages that it reads at run time. */
  readonly packageFiles?: readonly string[]
  /** What is built, and handed out as it is: folders of the project, by the name that they have beside the entry. */
  readonly folders?: Readonly<Record<string, string>>
}

export type FunctionName = ServedGroup | 'removals'

/** One Lambda function for each group of operations, and the worker that finishes removals. */
export const functionSettings: Readonly<Record<FunctionName, FunctionSettings>> = {
  documentation: {
    entry: 'entries/documentation.ts',
    description: 'The contract (the OpenAPI document and the reference page), and the console',
    memorySize: 512,
    timeout: Duration.seconds(25),
    packageFiles: referenceFiles,
    folders: { console: join('console', 'dist') },
  },
  fields: {
    entry: 'entries/fields.ts',
    description: 'System fields of web forms',
    memorySize: 512,
    timeout: Duration.seconds(25),
  },
  categories: {
    entry: 'entries/categories.ts',
    description: 'Categories and the news items and blogs linked to them',
    // A filtered list works on up to 20,000 objects at once.
    memorySize: 1024,
    timeout: Duration.seconds(25),
  },
  storage: {
    entry: 'entries/storage.ts',
    description: 'Files and folders of sites',
    // Small files of an upload wait in memory until all of it has been checked.
    memorySize: 1024,
    timeout: Duration.seconds(28),
  },
  removals: {
    entry: 'entries/removals.ts',
    description: 'Finishes the removal of large folders, in slices of a minute',
    memorySize: 512,
    timeout: Duration.seconds(90),
    goesOnByItself: true,
  },
}

export const functionNames = Object.keys(functionSettings) as FunctionName[]

/** One value for each function. */
export const byFunction = <Value>(create: (name: FunctionName) => Value): Readonly<Record<FunctionName, Value>> =>
  Object.fromEntries(functionNames.map((name) => [name, create(name)])) as Record<FunctionName, Value>

/** `fields` → `FieldsFunction`: what the construct of a function is called. */
export const functionName = (name: FunctionName): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Function`

/** The file with the handler of a function. */
export const functionEntry = (name: FunctionName): string =>
  join(import.meta.dirname, '..', '..', 'functions', functionSettings[name].entry)
