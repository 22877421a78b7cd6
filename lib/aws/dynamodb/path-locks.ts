import type { Workflows } from '../../storage/workflows.ts'
import type { TableOptions } from './dynamodb.ts'
import {
  createHolds,
  createLeases,
  createLooks,
  createOpening,
  createRecords,
  type ObservedRemovals,
} from './folder-removals.ts'
import type { RecordChange } from './journal.ts'
import { openPathItems } from './path-items.ts'
import { createWorkflows } from './workflow-locks.ts'

interface Options extends TableOptions {
  readonly record: RecordChange
  // Days for which removed files are kept.
  readonly keptDays?: number
  // The wall clock.
  readonly now?: () => number
}

export interface PathLocks {
  readonly workflows: Workflows
  readonly removals: ObservedRemovals
}

/** The ports over the table PathLocks. */
export const createPathLocks = ({ record, keptDays = 30, now = Date.now, ...options }: Options): PathLocks => {
  const items = openPathItems(options, now)
  const records = createRecords(items, keptDays)
  const opening = createOpening(items, record, records.note)
  return {
    workflows: createWorkflows(items, record),
    removals: { ...opening, ...createLeases(items), ...createHolds(items), ...records, ...createLooks(items) },
  }
}
