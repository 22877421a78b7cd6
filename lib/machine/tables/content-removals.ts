import type { StatementSync } from 'node:sqlite'
import { byName } from '../../core/by-name.ts'
import { type ContentKind, contentKinds, objectKindNames } from '../../core/content-kinds.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import { type SiteId, storedId } from '../../core/ids.ts'
import type { Database } from '../sqlite/database.ts'
import { contentTables, linkTables } from '../sqlite/tables.ts'
import type { RecordChange } from './history.ts'

/** Content of any kind, by its id. */
interface ContentName {
  readonly site: SiteId
  readonly kind: ContentKind
  readonly id: number
}

/** How many links go in one transaction: this many keep the database for about 10 ms. */
const slice = 2_000

/** How much content without links goes in one transaction. */
const together = 200

/**
 * Removes content with its links. With few links that is one transaction. With many, the first one marks it as going, so that it is
 * there for nobody any more, and others take its links in slices, so that nobody waits for long.
 */
export const createContentRemovals = ({ connection, read, write }: Database, record: RecordChange) => {
  const linksOf = (kind: ContentKind): StatementSync[] =>
    objectKindNames
      .filter((objectKind) => kind === 'category' || kind === objectKind)
      .map((objectKind) => {
        const links = linkTables[objectKind]
        return connection.prepare(
          `DELETE FROM ${links} WHERE (site, category, object) IN
           (SELECT site, category, object FROM ${links} WHERE site = ? AND ${kind === 'category' ? 'category' : 'object'} = ? LIMIT +?)`,
        )
      })
  const statementsOf = (kind: ContentKind) => {
    const { table } = contentTables[kind]
    return {
      mark: connection.prepare(`UPDATE ${table} SET going = 1 WHERE site = ? AND id = ? AND going = 0`),
      isGoing: connection.prepare(`SELECT 1 FROM ${table} WHERE site = ? AND id = ? AND going = 1`),
      left: connection.prepare(`SELECT site, id FROM ${table} WHERE going = 1 LIMIT +?`),
      deleteLinks: linksOf(kind),
      any: connection.prepare(`SELECT id FROM ${table} WHERE site = ? LIMIT +?`),
      delete: connection.prepare(`DELETE FROM ${table} WHERE site = ? AND id = ?`),
    }
  }
  const statements = byName(contentKinds, statementsOf)

  /** Takes a slice of what is going. Answers whether it is gone. */
  const takeSlice = ({ site, kind, id }: ContentName): boolean => {
    const { isGoing, deleteLinks, delete: remove } = statements[kind]
    // Another process may have finished, and somebody may have made it anew since.
    if (!isGoing.get(site, id)) return true
    let left = slice
    for (const links of deleteLinks) left -= Number(links.run(site, id, left).changes)
    if (left === 0) return false
    remove.run(site, id)
    return true
  }

  const finish = async (content: ContentName): Promise<void> => {
    while (!(await write(() => takeSlice(content))));
  }

  return {
    /** Answers whether there was anything to remove. A removal that broke off is completed: it was written down when it began. */
    async remove(content: ContentName, entry: HistoryEntry): Promise<boolean> {
      const { site, kind, id } = content
      const isGone = await write(() => {
        if (statements[kind].mark.run(site, id).changes === 1) record(entry)
        else if (!statements[kind].isGoing.get(site, id)) return undefined
        return takeSlice(content)
      })
      if (isGone === false) await finish(content)
      return isGone !== undefined
    },

    finish,

    /** Removes everything of a site: categories first, since most links go with them. */
    async clear(site: SiteId): Promise<void> {
      for (const kind of contentKinds) {
        const { any, mark } = statements[kind]
        const takeSome = (): boolean => {
          const rows = any.all(site, together)
          for (const row of rows) {
            const id = Number(row['id'])
            mark.run(site, id)
            // With many links it takes transactions of its own.
            if (!takeSlice({ site, kind, id })) break
          }
          return rows.length === 0
        }
        while (!(await write(takeSome)));
      }
    },

    /** Completes the removals that an earlier process has left. */
    async finishAll(): Promise<void> {
      for (const kind of contentKinds) {
        const { left } = statements[kind]
        for (;;) {
          const rows = await read(() => left.all(slice))
          if (rows.length === 0) break
          for (const { site, id } of rows) await finish({ site: storedId(site), kind, id: Number(id) })
        }
      }
    },
  }
}
