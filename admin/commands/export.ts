import { randomBytes } from 'node:crypto'
import { createWriteStream, lstatSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { LinkList } from '../../lib/categories/category-links.ts'
import { type Content, listWhole } from '../../lib/categories/contents.ts'
import { type ContentKind, contentKinds, contentMembers, objectKindNames } from '../../lib/core/content-kinds.ts'
import type { CategoryId, SiteId } from '../../lib/core/ids.ts'
import { byName } from '../../lib/core/names.ts'
import { failureOf, reasonOf, type SystemFailure } from '../../lib/core/system-failures.ts'
import { directoryAround } from '../../lib/machine/directory/data-directory.ts'
import { parseText } from '../../local/flags.ts'
import { type AdminStores, type ContentStores, readAll } from '../stores/admin-stores.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import { type OfSite, siteCommandOf } from '../terminal/arguments.ts'
import { interruptibly } from '../terminal/interruption.ts'
import { outputLost, Refusal, writeOut } from '../terminal/output.ts'

// The number of forms, links and objects in one read. Objects with long texts are read in smaller numbers.
const step = 1_000
const contentsTogether = 100

async function* formRecords({ webForms }: ContentStores, site: SiteId): AsyncGenerator<object, void> {
  const read = (after: number, limit: number) => webForms.listWhole(site, after, limit)
  for await (const { id, name, fields } of readAll(step, read)) {
    yield { kind: 'webForm', id, name }
    for (const field of fields) yield { kind: 'field', webFormId: id, ...field }
  }
}

// The import sets `siteId`, and refuses null for a member that is not nullable, so both are left out.
const membersOf = (kind: ContentKind, content: Content): object => {
  const members = Object.entries(contentMembers[kind]).filter(([name]) => name !== 'siteId')
  return Object.fromEntries(
    members.flatMap(([name, { nullable }]) => {
      const value = content[name] ?? null
      return value === null && !nullable ? [] : [[name, value]]
    }),
  )
}

// The ids that were written so far, in order. 200,000 ids take a few megabytes.
type Written = Readonly<Record<ContentKind, Set<number>>>

async function* contentRecords({ contents }: ContentStores, site: SiteId, kind: ContentKind, written: Written) {
  const read = (after: number, limit: number) => listWhole(contents, site, kind, after, limit)
  for await (const { id, content } of readAll(contentsTogether, read)) {
    if (!content) continue
    yield { kind, ...membersOf(kind, content) }
    written[kind].add(id)
  }
}

// Exports only links of exported objects. Other links belong to newer objects, or were left by a failed request. An
// import would refuse them.
async function* linkRecords({ links }: ContentStores, list: LinkList, written: Written): AsyncGenerator<object, void> {
  const { kind, category } = list
  const read = (after: number, limit: number) => links.list(list, after, limit, true)
  for await (const { id, displayable } of readAll(step, read)) {
    const link = { kind: 'link', type: kind, categoryId: category, objectId: id, displayable: displayable ? 1 : 0 }
    if (written[kind].has(id)) yield link
  }
}

/**
 * Exports everything of a site except its files. A record comes after the records that it refers to. Changes that
 * happen during the export may be missing. Errors: unavailable.
 */
export async function* exportRecords(stores: ContentStores, site: SiteId): AsyncGenerator<object, void> {
  yield* formRecords(stores, site)
  const written: Written = byName(contentKinds, () => new Set<number>())
  for (const kind of contentKinds) yield* contentRecords(stores, site, kind, written)
  for (const category of written.category) {
    for (const kind of objectKindNames)
      yield* linkRecords(stores, { site, kind, category: category as CategoryId }, written)
  }
}

// In characters: the size of one write.
const piece = 64 * 1024

// Joins the records, one per line, into texts of about `piece` characters. Counts the records.
async function* piecesOf(records: AsyncIterable<object>, count: { exported: number }): AsyncGenerator<string, void> {
  let text = ''
  for await (const record of records) {
    text += `${count.exported === 0 ? '' : '\n'}${JSON.stringify(record)}`
    count.exported += 1
    if (text.length < piece) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
  // The last line end is written separately. Node does not report that a file took only part of a text, but the next
  // write then fails.
  if (count.exported > 0) yield '\n'
}

// Writes a complete file or none. Errors: those of the file system.
const writeWhole = async (texts: AsyncIterable<string>, file: string, signal: AbortSignal): Promise<void> => {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    await pipeline(texts, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }), { signal })
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

const refusals: ReadonlyMap<SystemFailure | undefined, string> = new Map([
  ['missing', 'its folder does not exist. Create the folder first, or name another file'],
  ['notFolder', 'its folder does not exist. Create the folder first, or name another file'],
  ['isFolder', 'it is a directory. Name a file'],
  ['noRights', 'you lack the right to write it. Name a file in a folder that you may write into'],
  ['readOnlyDisk', 'its file system is read-only. Name a file elsewhere'],
  ['full', 'its disk is full. Free some space, or name a file elsewhere'],
])

// A file must not replace a symbolic link, a device or a pipe. Opening a directory fails before anything is exported. An
// export into a data directory could overwrite the database.
const writeFile = async (texts: AsyncIterable<string>, out: string, signal: AbortSignal): Promise<void> => {
  try {
    const path = lstatSync(out, { throwIfNoEntry: false }) ? realpathSync(out) : out
    const around = directoryAround(path)
    if (around !== undefined)
      throw new Refusal(`${out} is inside ${around}, where only the service writes. Name a file elsewhere.`)
    const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false
    await (isOther ? pipeline(texts, createWriteStream(path), { signal }) : writeWhole(texts, path, signal))
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Refusal(`${out} cannot be written: ${refusals.get(failureOf(error)) ?? reasonOf(error)}.`)
  }
}

const run = async (stores: AdminStores, { site, out }: OfSite & { readonly out: string }) => {
  const count = { exported: 0 }
  const texts = piecesOf(exportRecords(await areaOf(stores, site), site), count)
  if (out === '-') {
    for await (const text of texts) {
      const failure = await writeOut(text)
      if (failure) throw new Refusal(`${outputLost(failure)} The export is incomplete. Repeat the command.`)
    }
    return undefined
  }
  await interruptibly(
    (signal) => writeFile(texts, out, signal),
    new Refusal(`Interrupted: the export is incomplete, and ${out} is unchanged. Repeat the command.`),
  )
  return { ...count, file: out }
}

const description = 'export everything of a site except its files, as JSON lines for "import"'

export const exportCommand = (): Command =>
  siteCommandOf('export', description, '--site 1001 --out site.jsonl')
    .option('--out <file>', 'the file to write; - writes standard output', parseText, '-')
    .action(onStores(run))
