type Row = object

/** Of a longer list people are shown the first ones; programs get all of it. */
const mostInCell = 10

/** A text in one line that a terminal only shows: control characters would move its cursor, or do worse. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character]
    return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

const cell = (value: unknown): string => {
  if (Array.isArray(value)) {
    const more = value.length > mostInCell ? [`and ${value.length - mostInCell} more`] : []
    return [...value.slice(0, mostInCell).map(cell), ...more].join(', ')
  }
  if (typeof value === 'object' && value !== null)
    return cell(Object.entries(value).map((pair) => pair.map(cell).join(': ')))
  return value === null || value === undefined ? '' : visible(String(value))
}

/** Lines of cells, with those of one column as wide as the widest of them. There may be more lines than a function takes arguments. */
export const inColumns = (lines: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const widest = (column: number) => lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0)
  const widths = lines[0]?.map((_, column) => widest(column)) ?? []
  return lines.map((line) => line.map((text, column) => text.padEnd(widths[column] ?? 0)))
}

/** Rows under their members' names, in columns. */
const asTable = (rows: readonly Row[]): string => {
  const [first] = rows
  if (!first) return '(none)'
  const lines = inColumns([Object.keys(first), ...rows.map((row) => Object.values(row).map(cell))])
  return lines.map((line) => line.join('  ').trimEnd()).join('\n')
}

const isRows = (value: unknown): value is readonly Row[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'object')

/** One value: its members in a line, and below them those that are lists of their own, when there is anything on them. */
const asText = (value: Row): string => {
  const members = Object.entries(value)
  const own = Object.fromEntries(members.filter(([, member]) => !isRows(member)))
  const lists = members.flatMap(([, member]) => (isRows(member) && member.length > 0 ? ['', asTable(member)] : []))
  return [asTable([own]), ...lists].join('\n')
}

/** A command that cannot be carried out; the message says what to do about it. Exit status 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

const write = (text: string): Promise<Error | undefined> =>
  new Promise((resolve) => {
    const { stdout } = process
    // The stream also emits what it hands to the callback, and an error that nobody listens to would end the process.
    stdout.once('error', resolve)
    stdout.write(text, (error) => {
      if (!error) stdout.off('error', resolve)
      resolve(error ?? undefined)
    })
  })

/** Whether whoever reads the output has had enough, as `head` has. */
const hasReaderGone = (error: Error): boolean => 'code' in error && error.code === 'EPIPE'

/** What could not be printed, and why. */
export const outputLost = (error: Error): string => `Standard output cannot be written: ${error.message}.`

/** Prints a text and the end of its line. Answers the error that has kept it from being read; undefined when nothing has. */
export const tryToPrint = async (text: string): Promise<Error | undefined> => {
  const failure = await write(text)
  if (failure) return failure
  // Node does not say when only a part of a text has found room in a file. The file then refuses what comes next.
  const later = await write('\n')
  return later && hasReaderGone(later) ? undefined : later
}

/** Prints a text. Throws a Refusal when it is lost, unless its reader has had enough. */
export const printText = async (text: string): Promise<void> => {
  const failure = await tryToPrint(text)
  if (!failure || hasReaderGone(failure)) return
  throw new Refusal(
    `${outputLost(failure)} What the command was to do is done, and what it had to say is lost. Send its output to where there is room.`,
  )
}

/** What a command has to say: one JSON value for programs, tables for people. */
export const textOf = (value: Row | readonly Row[], json: boolean): string => {
  if (json) return JSON.stringify(value)
  return Array.isArray(value) ? asTable(value) : asText(value)
}

/** Prints what a command has to say. Throws a Refusal when that is lost. */
export const print = (value: Row | readonly Row[], json: boolean): Promise<void> => printText(textOf(value, json))

/** A command that has looked for faults, and has said which ones there are. Exit status 1. */
export class FaultsFound extends Error {
  override readonly name = 'FaultsFound'
}

/** The end of what is told of a removal that nobody has confirmed. */
export const notSure = 'Nothing was removed: add --yes to remove it.'
