import type { RecordChange } from '../../lib/aws/dynamodb/journal.ts'
import type { Author, HistoryEntry } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'

/** The author of the changes of a test. */
export const author: Author = { actor: 'test' }

/** An entry for changes whose history a test does not look at. */
export const entry: HistoryEntry = { ...author, site: 1001 as SiteId, type: 'content.imported', subject: 'test' }

/** For stores of AWS whose history a test does not look at. */
export const unrecorded: RecordChange = async () => {}
