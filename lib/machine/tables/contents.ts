import type { Content, Contents, Listed } from '../../categories/contents.ts'
import { type ContentKind, contentKinds, givenText, isSameContent, textMember } from '../../core/content-kinds.ts'
import type { HistoryEntry } from '../../core/history-entry.ts'
import type { SiteId } from '../../core/ids.ts'
import { byName } from '../../core/names.ts'
import type { Database } from '../sqlite/database.ts'
import { countPages, forEachBatch, readPages } from '../sqlite/paging.ts'
import { createContentRemovals } from './content-removals.ts'
import { contentReader, contentStatements, membersToKeep } from './content-rows.ts'
import type { RecordChange } from './history.ts'

/** Entries, and characters of their texts, in one transaction, so that nobody waits for long. */
const mostEntries = 500
const mostText = 1_000_000

const textOf = (content: Content | undefined, kind: ContentKind): string => (content && givenText(kind, content)) ?? ''

type Apply = Parameters<Contents['changeMany']>[3]

interface Changed {
  readonly done: number
  readonly changed: number
  /** Ids that are being removed: nothing is changed then. */
  readonly marked: readonly number[]
}

const piecesOf = (contents: readonly Content[], kind: ContentKind): Content[][] => {
  const pieces: Content[][] = []
  let left = 0
  for (const content of contents) {
    const { length } = textOf(content, kind)
    const piece = pieces.at(-1)
    if (!piece || piece.length === mostEntries || length > left) {
      pieces.push([content])
      left = mostText - length
    } else {
      piece.push(content)
      left -= length
    }
  }
  return pieces
}

type Rows = Database & {
  readonly statements: Readonly<Record<ContentKind, ReturnType<typeof contentStatements>>>
}

const reader = (site: SiteId, kind: ContentKind) => {
  const readContent = contentReader(site, kind)
  return (row: Readonly<Record<string, unknown>>) => readContent(String(row['members']))
}

const createPieces = ({ statements }: Pick<Rows, 'statements'>, record: RecordChange) => {
  const put = (site: SiteId, kind: ContentKind, content: Content) => {
    statements[kind].put.run(site, content.id, membersToKeep(content, kind))
    statements[kind].texts?.put.run(site, content.id, textOf(content, kind))
  }

  const markedOf = (site: SiteId, kind: ContentKind, ids: readonly number[]): number[] =>
    statements[kind].marked.all(site, JSON.stringify(ids)).map(({ id }) => Number(id))

  const putDifference = (site: SiteId, kind: ContentKind, stored: Content | undefined, content: Content): boolean => {
    if (!stored) {
      put(site, kind, content)
      return true
    }
    const { put: putMembers, texts } = statements[kind]
    const isOther = !isSameContent(kind, stored, content)
    if (isOther) putMembers.run(site, content.id, membersToKeep(content, kind))
    const text = givenText(kind, content)
    if (text === undefined || !texts || texts.isThere.get(site, content.id, text)) return isOther
    texts.put.run(site, content.id, text)
    return true
  }

  return {
    /** Answers the ids that are being removed: nothing is stored then. */
    put(site: SiteId, kind: ContentKind, piece: readonly Content[], entry?: HistoryEntry): number[] {
      const marked = markedOf(
        site,
        kind,
        piece.map(({ id }) => id),
      )
      if (marked.length > 0) return marked
      for (const content of piece) put(site, kind, content)
      if (entry) record(entry)
      return marked
    },

    /** Changes as many contents as one transaction takes. */
    change(site: SiteId, kind: ContentKind, ids: readonly number[], apply: Apply, entry?: HistoryEntry): Changed {
      const marked = markedOf(site, kind, ids)
      if (marked.length > 0) return { done: 0, changed: 0, marked }
      const toContent = reader(site, kind)
      let done = 0
      let changed = 0
      let left = mostText
      for (const id of ids) {
        if (left <= 0) break
        done += 1
        const row = statements[kind].get.get(site, id)
        const stored = row && toContent(row)
        const content = apply(stored, id)
        left -= textOf(content, kind).length
        if (content && putDifference(site, kind, stored, content)) changed += 1
      }
      if (changed > 0 && entry) record(entry)
      return { done, changed, marked }
    },
  }
}

const createQueries = ({ connection, read, statements }: Rows) => {
  const list: Contents['list'] = (site, kind, after, limit) =>
    readPages(
      after,
      limit,
      async (last, some) => {
        const contents = (await read(() => statements[kind].behind.all(site, last, some))).map(reader(site, kind))
        return contents.map((content) => ({ id: content.id, content }))
      },
      ({ id }) => id,
    )

  const texts: Contents['texts'] = async (site, kind, ids) => {
    const found = new Map<number, string>()
    const some = statements[kind].texts?.some
    if (!some) return found
    await forEachBatch(ids, async (batch) => {
      const rows = await read(() => some.all(site, JSON.stringify(batch)))
      for (const { id, text } of rows) found.set(Number(id), String(text))
    })
    return found
  }

  // Commits of other connections, and changes of this one, which the version does not count.
  const version = connection.prepare('PRAGMA data_version')
  const changes = connection.prepare('SELECT total_changes() AS changes')

  return {
    state: () => read(() => `${version.get()?.['data_version']}.${changes.get()?.['changes']}`),

    async get(site, kind, id) {
      const row = await read(() => statements[kind].get.get(site, id))
      return row && reader(site, kind)(row)
    },

    async getMany(site, kind, ids) {
      const contents = new Map<number, Content>()
      await forEachBatch(ids, async (batch) => {
        const rows = await read(() => statements[kind].these.all(site, JSON.stringify(batch)))
        for (const content of rows.map(reader(site, kind))) contents.set(content.id, content)
      })
      return contents
    },

    async existing(site, kind, ids) {
      const existing = new Set<number>()
      await forEachBatch(ids, async (batch) => {
        const rows = await read(() => statements[kind].existing.all(site, JSON.stringify(batch)))
        for (const { id } of rows) existing.add(Number(id))
      })
      return existing
    },

    texts,
    list,

    async listWhole(site, kind, after, limit) {
      const listed = await list(site, kind, after, limit)
      const member = textMember(kind)
      if (member === undefined) return listed
      const found = await texts(
        site,
        kind,
        listed.map(({ id }) => id),
      )
      return listed.map(
        ({ id, content }): Listed => ({ id, content: content && { ...content, [member]: found.get(id) ?? '' } }),
      )
    },

    count: (site, kind, after, limit) =>
      countPages(after, limit, (last, some) => read(() => statements[kind].count.get(site, last, some))),

    highestId: (site, kind) => read(() => Number(statements[kind].highest.get(site)?.['id'] ?? 0)),
  } satisfies Partial<Contents>
}

export const createContents = (database: Database, record: RecordChange): Contents => {
  const { connection, write } = database
  const removals = createContentRemovals(database, record)
  const statements = byName(contentKinds, (kind) => contentStatements(connection, kind))
  const pieces = createPieces({ statements }, record)

  const finishAll = async (site: SiteId, kind: ContentKind, ids: readonly number[]): Promise<void> => {
    for (const id of ids) await removals.finish({ site, kind, id })
  }

  return {
    ...createQueries({ ...database, statements }),

    create: (site, kind, content, entry) =>
      write(() => {
        const members = membersToKeep(content, kind)
        if (statements[kind].insert.run(site, content.id, members).changes === 0) return false
        statements[kind].texts?.put.run(site, content.id, textOf(content, kind))
        record(entry)
        return true
      }),

    async putMany(site, kind, contents, entry) {
      for (const [index, piece] of piecesOf(contents, kind).entries()) {
        for (;;) {
          // With the first of them: nothing is stored without a word of it.
          const marked = await write(() => pieces.put(site, kind, piece, index === 0 ? entry : undefined))
          if (marked.length === 0) break
          await finishAll(site, kind, marked)
        }
      }
    },

    async changeMany(site, kind, ids, apply, entry) {
      let changed = 0
      for (let from = 0; from < ids.length; ) {
        const some = ids.slice(from, from + mostEntries)
        const isFirst = changed === 0
        const step = await write(() => pieces.change(site, kind, some, apply, isFirst ? entry : undefined))
        await finishAll(site, kind, step.marked)
        changed += step.changed
        from += step.done
      }
      return changed
    },

    removeObject: (object, entry) => removals.remove(object, entry),
    removeCategory: (site, id, entry) => removals.remove({ site, kind: 'category', id }, entry),
    clear: removals.clear,
  }
}

/** Completes the removals that a killed process has left. */
export const finishRemovals = (database: Database): Promise<void> =>
  // Each of them was written down when it began.
  createContentRemovals(database, () => {}).finishAll()
