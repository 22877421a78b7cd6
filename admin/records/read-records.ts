import { constants, createReadStream, fstatSync, openSync, type Stats, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'
import { failureOf, reasonOf, type SystemFailure } from '../../lib/core/system-failures.ts'
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
  const decode = (bytes: Uint8Array, isLast = false): string => {
    try {
      return decoder.decode(bytes, { stream: !isLast })
    } catch {
      throw new NotUtf8(`line ${line} is not valid UTF-8`)
    }
  }
  for await (const chunk of chunks) {
    let text = ''
    // Decodes line by line, so that the fault is reported with its own line.
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(lineFeed, from) + 1 || chunk.length
      text += decode(chunk.subarray(from, end))
      if (chunk[end - 1] === lineFeed) line += 1
      from = end
    }
    yield text
  }
  decode(new Uint8Array(), true)
}

const saveAsUtf8 = 'Save it in UTF-8, and import it again'

const nameOf = (file: string): string => (file === '-' ? 'Standard input' : file)

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

async function* readText(file: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
  try {
    const bytes = openInput(file)
    yield* decodeUtf8(signal ? addAbortSignal(signal, bytes) : bytes)
  } catch (error) {
    if (error instanceof NotUtf8) throw error
    throw new Refusal(`${nameOf(file)} cannot be read: ${refusals.get(failureOf(error)) ?? reasonOf(error)}.`)
  }
}

// Undefined for standard input, and for files that cannot be read.
export const statsOf = (file: string): Stats | undefined => {
  if (file === '-') return undefined
  try {
    return statSync(file)
  } catch {
    return undefined
  }
}

/**
 * The text of a file, or of standard input for `-`. Checks a whole file first, so that no part of an invalid file is
 * imported. The signal ends the reading with an error. Throws a Refusal if the input cannot be read or is not UTF-8.
 */
export async function* readInput(file: string, signal?: AbortSignal): AsyncGenerator<string> {
  // Standard input and pipes cannot be read twice.
  const isChecked = statsOf(file)?.isFile() ?? false
  try {
    if (isChecked) for await (const _ of readText(file, signal));
    yield* readText(file, signal)
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error
    const what = nameOf(file)
    throw new Refusal(
      isChecked
        ? `${what} was not imported: ${error.message}. ${saveAsUtf8}.`
        : `${what} was imported only in part: ${error.message}. ${saveAsUtf8}: importing again is safe.`,
    )
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

type Gatherer = ReturnType<typeof gatherRecord>

interface Reader {
  read(chunk: string): Iterable<RawRecord>
  end(): Iterable<RawRecord>
}

const lineReader = (record: Gatherer): Reader => {
  function* end() {
    if (!record.isBlank()) yield record.take()
  }
  return {
    *read(chunk) {
      const [head = '', ...rest] = chunk.split('\n')
      record.add(head)
      for (const next of rest) {
        yield* end()
        record.add('\n')
        record.add(next)
      }
    },
    end,
  }
}

// A character of the outermost array begins an element, ends the array, or separates two elements.
type Boundary = 'begin' | 'comma' | 'end'

const depthChanges: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 }

const followArray = (): ((character: string) => Boundary | undefined) => {
  let depth = 0
  let inString = false
  let escaped = false

  const outsideString = (character: string): Boundary | undefined => {
    if (character === '"') inString = true
    if (character === ',' && depth === 1) return 'comma'
    // A closing brace without an opening one is a fault of its element, and does not end the array.
    const change = character === '}' && depth <= 1 ? 0 : (depthChanges[character] ?? 0)
    depth += change
    if (change > 0 && depth === 1) return 'begin'
    return change < 0 && depth === 0 ? 'end' : undefined
  }
  return (character) => {
    if (!inString) return outsideString(character)
    if (character === '"' && !escaped) inString = false
    escaped = character === '\\' && !escaped
    return undefined
  }
}

// Cuts out the elements without parsing them: invalid JSON in one element does not affect the others.
const elementReader = (record: Gatherer): Reader => {
  const boundaryAt = followArray()
  let last: Boundary | undefined

  function* cross(boundary: Boundary): Iterable<RawRecord> {
    const isEmptyArray = boundary === 'end' && last === 'begin' && record.isBlank()
    const element = record.take()
    if (boundary !== 'begin' && !isEmptyArray) yield element
    last = boundary
  }
  return {
    *read(chunk) {
      let from = 0
      for (let at = 0; at < chunk.length && last !== 'end'; at++) {
        const boundary = boundaryAt(chunk[at] ?? '')
        if (!boundary) continue
        record.add(chunk.slice(from, at))
        yield* cross(boundary)
        from = at + 1
      }
      record.add(chunk.slice(from))
    },
    *end() {
      if (last !== 'end') yield record.take('the array ends here without its closing bracket')
      else if (!record.isBlank()) yield record.take('it comes after the end of the array. Move it into the array')
    },
  }
}

/** Reads JSON lines or one JSON array. The first character shows which of the two the text is. */
export async function* readRecords(chunks: AsyncIterable<string>): AsyncGenerator<RawRecord> {
  const record = gatherRecord()
  let reader: Reader | undefined
  for await (const chunk of chunks) {
    const [first] = chunk.trimStart()
    if (first !== undefined) reader ??= first === '[' ? elementReader(record) : lineReader(record)
    if (reader) yield* reader.read(chunk)
    else record.add(chunk)
  }
  if (reader) yield* reader.end()
}
