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

/** Lines of cells, with those of one column as wide as the widest of them. */
export const inColumns = (lines: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
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

/** Prints what a command has to say: one JSON value for programs, tables for people. */
export const print = (value: Row | readonly Row[], json: boolean): void => {
  if (json) console.log(JSON.stringify(value))
  else console.log(Array.isArray(value) ? asTable(value) : asText(value))
}

/** A command that cannot be carried out; the message says what to do about it. Exit status 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** A command that has looked for faults, and has said which ones there are. Exit status 1. */
export class FaultsFound extends Error {
  override readonly name = 'FaultsFound'
}

/** The end of what is told of a removal that nobody has confirmed. */
export const notSure = 'Nothing was removed: add --yes to remove it.'
