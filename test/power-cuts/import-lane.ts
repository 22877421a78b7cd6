import type { Change } from '../../lib/core/history-entry.ts'
import { changesIn, findDifference, type Judged, type Lane, Refusal, site } from './lanes.ts'

const category = 900
const news = Array.from({ length: 560 }, (_, number) => 1_000 + number)
/** An import stores up to 500 records of one kind in one transaction. */
const inOneBatch = 500

interface Imported {
  /** The mark in the records of each batch, in the order of the batches. A batch has one mark, and one history entry. */
  readonly marks: readonly string[]
  readonly entries: number
}

const linesOf = (mark: string): string =>
  [
    { kind: 'category', id: category, name: mark },
    ...news.map((id) => ({ kind: 'news', id, subject: mark, body: mark.repeat(20) })),
  ]
    .map((record) => JSON.stringify(record))
    .join('\n')

const observe = async (judged: Judged): Promise<Imported> => {
  const { contents } = judged.machine.stores
  const items = await contents.getMany(site, 'news', news)
  const bodies = await contents.texts(site, 'news', news)
  const markOf = (id: number) => {
    const subject = `${items.get(id)?.['subject'] ?? ''}`
    return subject.repeat(20) === (bodies.get(id) ?? '') ? subject : `${subject} with another body`
  }
  const marksOf = (ids: readonly number[]) => [...new Set(ids.map(markOf))].join(' and ')
  const name = `${(await contents.get(site, 'category', category))?.['name'] ?? ''}`
  // The contents of the demo are imported, too.
  const isOwn = ({ type, actor }: Change) => type === 'content.imported' && actor.startsWith('admin:')
  const entries = (await changesIn(judged)).filter(isOwn).length
  return { marks: [name, marksOf(news.slice(0, inOneBatch)), marksOf(news.slice(inOneBatch))], entries }
}

/** The batches of an import are complete or absent, in their order. */
const afterBatches = (count: number, before: Imported, after: Imported): Imported => ({
  marks: [...after.marks.slice(0, count), ...before.marks.slice(count)],
  entries: before.entries + count,
})

/** A lane that imports records in its own process beside the service. */
export const importChanges = (): Lane<Imported> => ({
  start: { marks: ['', '', ''], entries: 0 },
  next({ marks, entries }, count) {
    const mark = `import ${count}`
    const after = { marks: marks.map(() => mark), entries: entries + marks.length }
    return {
      after,
      async send(_, { administer }) {
        const { status, stderr } = await administer(['import', '-', '--site', `${site}`], linesOf(mark))
        if (status !== 0) throw new Refusal(`${mark} ended with status ${status}: ${stderr}`)
        return after
      },
    }
  },
  async faultIn(judged, expected) {
    const { acknowledged, underWay } = expected
    const between = underWay ? [1, 2].map((count) => afterBatches(count, acknowledged, underWay)) : []
    return findDifference(expected, await observe(judged), between)
  },
})
