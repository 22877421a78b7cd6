import type { DatabaseSync } from 'node:sqlite'
import type { SiteObject } from '../../categories/contents.ts'
import { type ContentKind, contentKinds, objectKindNames } from '../../core/content-kinds.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { byName } from '../../core/names.ts'
import type { Database } from '../sqlite/database.ts'
import { all, exists, prepareAll, run } from '../sqlite/queries.ts'
import { contentTables, linkTables } from '../sqlite/tables.ts'
import type { RecordChange } from './history.ts'

type StoredName = Pick<SiteObject, 'site' | 'id'>

// The number of links in one transaction: this many lock the database for about 10 ms.
const linksPerStep = 2_000

const contentsPerStep = 200

const prepareLinkRemovals = (connection: DatabaseSync, kind: ContentKind) =>
  objectKindNames
    .filter((objectKind) => kind === 'category' || kind === objectKind)
    .map((objectKind) => {
      const links = linkTables[objectKind]
      const end = kind === 'category' ? 'category' : 'object'
      return run(`DELETE FROM ${links} WHERE (site, category, object) IN
        (SELECT site, category, object FROM ${links} WHERE site = ? AND ${end} = ? LIMIT +?)`)(connection)
    })

const prepareRemovals = (connection: DatabaseSync, kind: ContentKind) => {
  const { table } = contentTables[kind]
  return {
    ...prepareAll(connection, {
      isFlagged: exists(`SELECT 1 FROM ${table} WHERE site = ? AND id = ? AND going = 1`),
      left: all<StoredName>(`SELECT site, id FROM ${table} WHERE going = 1 LIMIT +?`),
      ofSite: all<StoredName>(`SELECT site, id FROM ${table} WHERE site = ? LIMIT +?`),
      mark: `UPDATE ${table} SET going = 1 WHERE site = ? AND id = ? AND going = 0`,
      delete: `DELETE FROM ${table} WHERE site = ? AND id = ?`,
    }),
    deleteLinks: prepareLinkRemovals(connection, kind),
  }
}

/**
 * Removes content with its links. With few links, this is one transaction. With many links, the first transaction flags
 * the content, so that no read finds it, and further transactions remove its links in short steps.
 */
export const createContentRemovals = ({ connection, write }: Database, record: RecordChange) => {
  const statements = byName(contentKinds, (kind) => prepareRemovals(connection, kind))

  const removeStep = (site: SiteId, kind: ContentKind, id: number): boolean => {
    const { isFlagged, deleteLinks, delete: remove } = statements[kind]
    // Another process may have finished the removal, and a caller may have created content with this id again.
    if (!isFlagged(site, id)) return true
    let left = linksPerStep
    for (const removeLinks of deleteLinks) left -= removeLinks(site, id, left)
    if (left === 0) return false
    remove(site, id)
    return true
  }

  const finishRemoval = async (...content: Parameters<typeof removeStep>): Promise<void> => {
    while (!(await write(() => removeStep(...content))));
  }

  // Categories come first, because most links are removed with them.
  const removeAll = async (found: 'left' | 'ofSite', ...of: readonly SiteId[]): Promise<void> => {
    for (const kind of contentKinds) {
      const removeSome = (): boolean => {
        const rows = statements[kind][found](...of, contentsPerStep)
        for (const { site, id } of rows) {
          statements[kind].mark(site, id)
          if (!removeStep(site, kind, id)) break
        }
        return rows.length === 0
      }
      while (!(await write(removeSome)));
    }
  }

  return {
    // Completes an interrupted removal. Its history entry was written when the removal began.
    async remove(site: SiteId, kind: ContentKind, id: number, entry: HistoryEntry): Promise<boolean> {
      const isDone = await write(() => {
        if (statements[kind].mark(site, id) === 1) record(entry)
        else if (!statements[kind].isFlagged(site, id)) return undefined
        return removeStep(site, kind, id)
      })
      if (isDone === false) await finishRemoval(site, kind, id)
      return isDone !== undefined
    },

    finishRemoval,
    clear: (site: SiteId) => removeAll('ofSite', site),
    finishRemovals: () => removeAll('left'),
  }
}
