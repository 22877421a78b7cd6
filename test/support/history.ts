import type { RecordChange } from '../../lib/aws/dynamodb/journal.ts'
import type { Author, HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'

export const author: Author = { actor: 'test' }

export const entry: HistoryEntry = { ...author, site: 1001 as SiteId, type: 'content.imported', subject: 'test' }

/** The history of stores on AWS, for tests that ignore the history. */
export const unrecorded: RecordChange = async () => {}
