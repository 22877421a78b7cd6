import { join } from 'node:path'
import { Duration } from 'aws-cdk-lib'
import { referenceFiles } from '../../lib/contract/documentation/reference-assets.ts'
import type { prefixes } from '../../lib/contract/routes/routes.ts'
import { byName, capitalised } from '../../lib/core/names.ts'

export type ServedGroup = (typeof prefixes)[number]['group']

export interface FunctionSettings {
  readonly description: string
  // In MB. Processor time grows with memory, and a cold start is mostly limited by the processor.
  readonly memorySize: number
  // The gateway waits 29 seconds, so a function behind it must answer before that.
  readonly timeout: Duration
  // The function invokes itself through a queue. Without this flag, Lambda would stop the chain after 16 invocations.
  readonly invokesItself?: boolean
  readonly packageFiles?: readonly string[]
  readonly folders?: Readonly<Record<string, string>>
}

export type FunctionName = ServedGroup | 'removals'

export const functionSettings: Readonly<Record<FunctionName, FunctionSettings>> = {
  documentation: {
    description: 'The contract (the OpenAPI document and the reference page), and the console',
    memorySize: 512,
    timeout: Duration.seconds(25),
    packageFiles: referenceFiles,
    folders: { console: join('console', 'dist') },
  },
  access: {
    description: 'Sign-in and people',
    memorySize: 1024,
    timeout: Duration.seconds(25),
  },
  fields: { description: 'System fields of web forms', memorySize: 512, timeout: Duration.seconds(25) },
  categories: {
    description: 'Categories and the news items and blogs linked to them',
    // A filtered list may read up to 20,000 objects at once.
    memorySize: 1024,
    timeout: Duration.seconds(25),
  },
  storage: {
    description: 'Files and folders of sites',
    // The small files of an upload wait in memory until the whole upload has been checked.
    memorySize: 1024,
    timeout: Duration.seconds(28),
  },
  webhooks: {
    description: 'Webhooks, and the deliveries to their targets',
    memorySize: 512,
    // A worker begins a delivery only if at least 15 seconds are left.
    timeout: Duration.seconds(28),
    invokesItself: true,
  },
  removals: {
    description: 'Finishes the removal of large folders, and recounts the used bytes, for up to a minute in each run',
    memorySize: 512,
    timeout: Duration.seconds(90),
    invokesItself: true,
  },
}

/**
 * Each queue starts up to `workers` at once. The other work of its function would wait while they use the whole
 * reservation. The stream of a new table has four shards, and each shard starts one function.
 */
export const workloads = {
  removals: { workers: 5, least: 6, others: '1 for the recount of used bytes' },
  webhooks: { workers: 20, least: 25, others: '4 for the stream of changes, and 1 for requests' },
} as const

export const functionNames = Object.keys(functionSettings) as FunctionName[]

/** The function `webhooks` exists only if the setting `webhooks` exists. */
export type ByFunction<Value> = Readonly<
  Record<Exclude<FunctionName, 'webhooks'>, Value> & Partial<Record<FunctionName, Value>>
>

export const byFunction = <Value>(hasWebhooks: boolean, create: (name: FunctionName) => Value): ByFunction<Value> =>
  byName(functionNames.filter((name) => hasWebhooks || name !== 'webhooks') as FunctionName[], create)

export const functionName = (name: FunctionName): string => `${capitalised(name)}Function`

export const functionEntry = (name: FunctionName | 'registration' | 'stream' | 'canary'): string =>
  join(import.meta.dirname, '..', '..', 'functions', 'entries', `${name}.ts`)
