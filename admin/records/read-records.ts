import { constants, createReadStream, fstatSync, openSync, type Stats, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'
import { failureOf, reasonOf, type SystemFailure, systemCodeOf } from '../../lib/core/system-failures.ts'
import { Refusal } from '../terminal/output.ts'

const lineFeed = 10

/** The message names the first line with invalid bytes. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8'
}

/** Throws NotUtf8. Invalid bytes are not replaced, because the replacement would be stored as data. */
export async function* decodeUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  try {
    for await (const chunk of chunks) {
      let text = ''
      // Decodes line by line, so that the fault is reported with its own line.
      for (let from = 0; from < chunk.length; ) {
        const end = chunk.indexOf(lineFeed, from) + 1 || chunk.length
        text += decoder.decode(chunk.subarray(from, end), { stream: true })
        if (chunk[end - 1] === lineFeed) line += 1
        from = end
      }
      yield text
    }
    decoder.decode()
  } catch (error) {
    const isInvalid = systemCodeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA'
    throw isInvalid ? new NotUtf8(`line ${line} is not valid UTF-8`) : error
  }
}

// Node would read a directory or a disk on standard input as an empty file. If the command opens the path of standard
// input itself, it reads the disk, and the directory causes an error.
const openStandardInput = (): Readable => {
  const stats = fstatSync(0)
  return stats.isDirectory() || stats.isBlockDevice() ? createReadStream('', { fd: 0 }) : process.stdin
}

const openInput = (file: string): Readable => {
  if (file === '-') return openStandardInput()
  if (!statsOf(file)?.isFIFO()) return createReadStream(file)
  // If a pipe without a writer were opened as a file, it would block a thread of Node, and the process could not end.
  return new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK), writable: false })
}

const refusals: ReadonlyMap<SystemFailure | undefined, string> = new Map([
  ['missing', 'this file does not exist. Check the path'],
  ['notFolder', 'this file does not exist. Check the path'],
  ['isFolder', 'it is a directory. Name a file'],
  ['noRights', 'you lack the right to read it. Run the command as a user who may read the file'],
])

// Undefined for standard input, and for files that cannot be read.
export const statsOf = (file: string): Stats | undefined => {
  if (file === '-') return undefined
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

const refusalOf = (error: unknown, file: string, isChecked: boolean): Refusal => {
  const what = file === '-' ? 'Standard input' : file
  if (!(error instanceof NotUtf8))
    return new Refusal(`${what} cannot be read: ${refusals.get(failureOf(error)) ?? reasonOf(error)}.`)
  const [fate, end] = isChecked
    ? ['was not imported', '.']
    : ['was imported only in part', ': importing again is safe.']
  return new Refusal(`${what} ${fate}: ${error.message}. Save it in UTF-8, and import it again${end}`)
}

/**
 * The text of a file, or of standard input for `-`. Checks a whole file first, so that no part of an invalid file is
 * imported. The signal ends the text early. Throws a Refusal if the input cannot be read or is not UTF-8.
 */
export async function* readInput(file: string, signal: AbortSignal): AsyncGenerator<string> {
  const readText = () => decodeUtf8(addAbortSignal(signal, openInput(file)))
  // Standard input and pipes cannot be read twice.
  const isChecked = statsOf(file)?.isFile() ?? false
  try {
    if (isChecked) for await (const _ of readText());
    yield* readText()
  } catch (error) {
    if (!signal.aborted) throw refusalOf(error, file, isChecked)
  }
}

/** The text of one JSON value, and the line where it begins. */
export interface RawRecord {
  readonly line: number
  readonly text: string
  readonly fault?: string
}

// In characters: longer than an exported text in which each character is escaped.
const longestRecord = 4 * 1024 * 1024
const tooLong = `it is longer than ${longestRecord} characters`

const lineBreaks = (text: string) => text.split('\n').length - 1

// Joins the pieces of one record, removes surrounding blanks, and counts lines.
const gatherRecord = () => {
  let line = 1
  let firstLine = 1
  let length = 0
  let text = ''
  return {
    add(piece: string): void {
      const own = text === '' ? piece.trimStart() : piece
      if (text === '') firstLine = line + lineBreaks(piece.slice(0, piece.length - own.length))
      line += lineBreaks(piece)
      length += own.length
      if (text.length < longestRecord) text = (text + own).slice(0, longestRecord)
    },
    isBlank: () => text === '',
    take(fault = length > longestRecord ? tooLong : undefined): RawRecord {
      const record = { line: firstLine, text: text.trimEnd(), ...(fault !== undefined && { fault }) }
      firstLine = line
      length = 0
      text = ''
      return record
    },
  }
}

// A line ends, or the outermost array begins, continues with its next element, or ends.
type Boundary = 'line' | 'begin' | 'separator' | 'end'

// Finds the boundaries in the next chunk of a text. A record ends at `end`, and the next one begins at `next`.
type Follow = (chunk: string) => Iterable<readonly [end: number, next: number, boundary: Boundary]>

// A line break counts as a blank before the next line.
const followLines: Follow = function* (chunk) {
  for (const { index } of chunk.matchAll(/\n/g)) yield [index, index, 'line']
}

const depthChanges: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 }

const followArray = (): Follow => {
  let depth = 0
  let inString = false
  let escaped = false
  let isOver = false

  const outsideString = (character: string): Boundary | undefined => {
    if (character === '"') inString = true
    if (character === ',' && depth === 1) return 'separator'
    // A closing brace without an opening one is a fault of its element, and does not end the array.
    const change = character === '}' && depth <= 1 ? 0 : (depthChanges[character] ?? 0)
    depth += change
    if (change > 0 && depth === 1) return 'begin'
    return change < 0 && depth === 0 ? 'end' : undefined
  }
  const boundaryAt = (character: string): Boundary | undefined => {
    if (!inString) return outsideString(character)
    if (character === '"' && !escaped) inString = false
    escaped = character === '\\' && !escaped
    return undefined
  }
  return function* (chunk) {
    for (let at = 0; at < chunk.length && !isOver; at++) {
      const boundary = boundaryAt(chunk[at] ?? '')
      if (boundary) yield [at, at + 1, boundary]
      isOver = boundary === 'end'
    }
  }
}

// The first character shows whether the text is JSON lines or one JSON array.
const followerOf = (chunk: string): Follow | undefined => {
  const [first] = chunk.trimStart()
  if (first === undefined) return undefined
  return first === '[' ? followArray() : followLines
}

const isCut = 'the array ends here without its closing bracket'
const isBehind = 'it comes after the end of the array. Move it into the array'
const faultsAtEnd: Readonly<Partial<Record<Boundary, string>>> = { begin: isCut, separator: isCut, end: isBehind }

/**
 * Reads JSON lines or one JSON array. Cuts out the records without parsing them: invalid JSON in one record does not
 * affect the others.
 */
export async function* readRecords(chunks: AsyncIterable<string>): AsyncGenerator<RawRecord> {
  const record = gatherRecord()
  let follow: Follow | undefined
  let last: Boundary = 'line'
  for await (const chunk of chunks) {
    follow ??= followerOf(chunk)
    let from = 0
    for (const [end, next, boundary] of follow?.(chunk) ?? []) {
      record.add(chunk.slice(from, end))
      from = next
      const isElement = boundary === 'separator' || (boundary === 'end' && last === 'separator')
      if (isElement || !record.isBlank()) yield record.take()
      last = boundary
    }
    record.add(chunk.slice(from))
  }
  const fault = faultsAtEnd[last]
  if (fault === isCut || !record.isBlank()) yield record.take(fault)
}
