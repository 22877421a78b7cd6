import type { Command } from 'commander'
import { escapeControls, jsonOf } from '../../client/src/command/format-text.ts'
import { capitalised } from '../../lib/core/names.ts'

// A table shows only the first values of a longer list. JSON output contains all values.
const mostInCell = 10

const cell = (value: unknown): string => {
  if (Array.isArray(value)) {
    const more = value.length > mostInCell ? [`and ${value.length - mostInCell} more`] : []
    return [...value.slice(0, mostInCell).map(cell), ...more].join(', ')
  }
  if (typeof value === 'object' && value !== null)
    return cell(Object.entries(value).map((pair) => pair.map(cell).join(': ')))
  return value === null || value === undefined ? '' : escapeControls(String(value))
}

export const inColumns = (lines: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const widest = (column: number) => lines.reduce((width, line) => Math.max(width, line[column]?.length ?? 0), 0)
  const widths = lines[0]?.map((_, column) => widest(column)) ?? []
  return lines.map((line) => line.map((text, column) => text.padEnd(widths[column] ?? 0)))
}

const asTable = (rows: readonly object[]): string => {
  if (rows.length === 0) return '(none)'
  // Rows may have different members, and DynamoDB returns the members of each item in another order.
  const names = [...new Set(rows.flatMap(Object.keys))]
  const cellsOf = (row: object) => names.map((name) => cell(Reflect.get(row, name)))
  const lines = inColumns([names, ...rows.map(cellsOf)])
  return lines.map((line) => line.join('  ').trimEnd()).join('\n')
}

const isRows = (value: unknown): value is readonly object[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'object')

// Shows the plain members in one line, and below it each list as a table.
const asText = (value: object): string => {
  const members = Object.entries(value)
  const own = Object.fromEntries(members.filter(([, member]) => !isRows(member)))
  const lists = members.flatMap(([, member]) => (isRows(member) && member.length > 0 ? ['', asTable(member)] : []))
  return [asTable([own]), ...lists].join('\n')
}

/** The message tells the user what to do. The exit status is 1. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

export const writeOut = (text: string): Promise<Error | undefined> =>
  new Promise((resolve) => {
    const { stdout } = process
    // The stream also emits the error of the callback as an event, and an event without a listener would end the
    // process.
    stdout.once('error', resolve)
    stdout.write(text, (error) => {
      if (!error) stdout.off('error', resolve)
      resolve(error ?? undefined)
    })
  })

// The reader has closed the pipe, as `head` does.
const isClosedByReader = (error: Error): boolean => 'code' in error && error.code === 'EPIPE'

export const outputLost = (error: Error): string => `Standard output cannot be written: ${error.message}.`

const tryToPrint = async (text: string): Promise<Error | undefined> => {
  const failure = await writeOut(text)
  if (failure) return failure
  // Node does not report that a file took only part of a text, but the next write then fails.
  const later = await writeOut('\n')
  return later && isClosedByReader(later) ? undefined : later
}

/** Throws a Refusal if the output is lost, unless the reader has closed the pipe. */
export const printText = async (text: string): Promise<void> => {
  const failure = await tryToPrint(text)
  if (!failure || isClosedByReader(failure)) return
  throw new Refusal(
    `${outputLost(failure)} The command succeeded, but its output was lost. Write the output to a disk with ` +
      'free space.',
  )
}

/** One JSON value for programs, tables for people. */
export const textOf = (value: object, json: boolean): string => {
  if (json) return jsonOf(value)
  return Array.isArray(value) ? asTable(value) : asText(value)
}

export const print = (value: object, json: boolean): Promise<void> => printText(textOf(value, json))

// The secrets that commands show once, and the commands that revoke and replace them.
const secrets = {
  token: { shown: 'token', undo: 'revoke', again: 'issue' },
  key: { shown: 'key', undo: 'revoke', again: 'create' },
  webhook: { shown: 'secret of the webhook', undo: 'remove', again: 'create' },
} as const

/**
 * Prints a secret while the stores are open, because nothing shows the secret again. If the output fails, revokes the
 * secret, and throws a Refusal that names the next step.
 */
export const printOnce = async (
  self: Command,
  what: keyof typeof secrets,
  name: string,
  output: object,
  revoke: () => Promise<unknown>,
): Promise<undefined> => {
  const failure = await tryToPrint(textOf(output, self.optsWithGlobals<{ readonly json: boolean }>().json))
  if (!failure) return
  const { shown, undo, again } = secrets[what]
  const unseen = `${outputLost(failure)} Nobody saw the ${shown}`
  try {
    await revoke()
  } catch {
    throw new Refusal(`${unseen}: ${undo} it with "${what} ${undo} ${name}", and ${again} another ${what}.`)
  }
  throw new Refusal(`${unseen}, so it is ${undo}d. ${capitalised(again)} another ${what}.`)
}

/** The exit status is 1, because a check has found faults. The check has already listed them. */
export class FaultsFound extends Error {
  override readonly name = 'FaultsFound'
}

export const notSure = 'Nothing was removed. To remove it, add --yes.'
