import type { ListedObject, NameQuery, ObjectStore } from '../../storage/object-store.ts'
import { foldForSearch, nameOf, pathIn } from '../../storage/path.ts'
import type { Database } from '../sqlite/database.ts'
import { all, column, one, prepareAll, value } from '../sqlite/queries.ts'
import { endOf } from './object-rows.ts'

// The number of names in one transaction, which takes about 10 ms.
const step = 500
// With more new names than this, a search does not wait for the index.
const mostWaiting = 20_000
// The number of index entries that one query reads.
const mostSeen = 2_000

interface NameRow {
  readonly id: number
  readonly key: string
}

/** Finds objects by parts of their names (S-127). Changes note their names; `indexNames` indexes the noted names. */
export const createNameIndex = ({ connection, read, note }: Database): Required<Pick<ObjectStore, 'indexNames'>> => {
  const names = prepareAll(connection, {
    last: value<number>('SELECT rowid FROM name_index ORDER BY rowid DESC LIMIT 1'),
    waiting: all<NameRow>('SELECT id, key FROM names WHERE id > ? ORDER BY id LIMIT +?'),
    countWaiting: value<number>('SELECT count(*) FROM (SELECT 1 FROM names WHERE id > ? LIMIT +?)'),
    removed: column<number>(
      'DELETE FROM removed_names WHERE id IN (SELECT id FROM removed_names LIMIT +?) RETURNING id',
    ),
    add: 'INSERT INTO name_index (rowid, name) VALUES (?, ?)',
    drop: 'DELETE FROM name_index WHERE rowid = ?',
    seen: one<{ last: number; count: number }>(`SELECT max(rowid) AS last, count(*) AS count FROM (
      SELECT rowid FROM name_index WHERE name_index MATCH ?1 AND rowid > ?2 ORDER BY rowid LIMIT +?3)`),
    find: all<ListedObject & Pick<NameRow, 'id'>>(`SELECT id, objects.key, size, modified, version, fingerprint FROM (
        SELECT rowid AS id FROM name_index WHERE name_index MATCH ?1 AND rowid > ?2 ORDER BY rowid LIMIT +?3
      ) JOIN names USING (id) JOIN objects USING (key)
      WHERE objects.key > ?4 AND objects.key < ?5 ORDER BY id LIMIT +?6`),
  })

  const lastIndexed = () => names.last() ?? 0

  const indexSome = () =>
    note(() => {
      const removed = names.removed(step)
      for (const id of removed) names.drop(id)
      const waiting = names.waiting(lastIndexed(), step)
      for (const { id, key } of waiting) names.add(id, foldForSearch(nameOf(pathIn(key))))
      return Math.max(removed.length, waiting.length)
    })

  let isIndexing = false
  let isFailing = false

  // O-18: on a full or read-only disk, the names cannot be indexed, but they can be listed. The next search tries again.
  const indexAll = async (): Promise<boolean> => {
    try {
      while ((await indexSome()) === step);
      isFailing = false
      return true
    } catch (error) {
      if (!isFailing) console.error('The index of names cannot be written, so searches take longer:', error)
      isFailing = true
      return false
    }
  }

  const findNames = ({ prefix, text, after = '0', limit }: NameQuery) =>
    read(() => {
      const asIndexedBefore = text.replaceAll(/σ(?!\p{L})/gu, 'ς')
      const words = [...new Set([text, asIndexedBefore])].map((one) => `"${one.replaceAll('"', '""')}"`).join(' OR ')
      const from = Number(after)
      const found = names.find(words, from, mostSeen, prefix, endOf(prefix), limit)
      const { count = 0, last: lastSeen } = names.seen(words, from, mostSeen) ?? {}
      const last = found.length === limit ? found.at(-1)?.id : count < mostSeen ? undefined : lastSeen
      const objects = found.map(({ id: _, ...object }) => object)
      return { objects, next: last === undefined ? undefined : String(last) }
    }, mostSeen)

  return {
    async indexNames() {
      const waiting = await read(() => names.countWaiting(lastIndexed(), mostWaiting) ?? 0)
      if (waiting < mostWaiting) return (await indexAll()) ? findNames : undefined
      if (isIndexing) return undefined
      isIndexing = true
      void indexAll().finally(() => {
        isIndexing = false
      })
      return undefined
    },
  }
}
