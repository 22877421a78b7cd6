/** A record as it stands in the file: the text of one JSON value, and the line where it begins. */
export interface RawRecord {
  readonly line: number
  readonly text: string
}

/** The longest record, in characters; what is longer is cut there, and so is no JSON any more. */
const longestRecord = 1024 * 1024

const isBlank = (text: string) => text.trim() === ''

async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<RawRecord> {
  let line = 1
  let text = ''
  for await (const chunk of chunks) {
    const [head = '', ...rest] = chunk.split('\n')
    text = (text + head).slice(0, longestRecord)
    for (const next of rest) {
      if (!isBlank(text)) yield { line, text }
      line += 1
      text = next
    }
  }
  if (!isBlank(text)) yield { line, text }
}

/** Follows quotes and brackets, and tells of each character whether it stands between two elements of the outermost array. */
const followArray = (): ((character: string) => boolean) => {
  let depth = 0
  let inString = false
  let escaped = false

  const withinString = (character: string) => {
    if (escaped) escaped = false
    else if (character === '\\') escaped = true
    else if (character === '"') inString = false
  }
  const outsideString = (character: string) => {
    if (character === '"') inString = true
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
  }

  return (character) => {
    if (inString) {
      withinString(character)
      return false
    }
    const depthBefore = depth
    outsideString(character)
    if (character === ',') return depth === 1
    return (character === '[' && depth === 1) || (character === ']' && depthBefore === 1)
  }
}

const lineBreaks = (text: string) => text.split('\n').length - 1

/** Gathers the pieces of one element after the other, and knows on which line each begins. */
const gatherElements = () => {
  let line = 1
  let text = ''
  let breaks = 0
  return {
    add(piece: string): void {
      breaks += lineBreaks(piece)
      text = (text + piece).slice(0, longestRecord)
    },
    take(): RawRecord[] {
      const element = text.trimStart()
      const begin = line + lineBreaks(text.slice(0, text.length - element.length))
      line += breaks
      breaks = 0
      text = ''
      return element === '' ? [] : [{ line: begin, text: element }]
    },
  }
}

/** The elements of a JSON array, cut out of the text without being understood: one that is no JSON spoils no other. */
async function* readElements(chunks: AsyncIterable<string>): AsyncGenerator<RawRecord> {
  const isBetween = followArray()
  const elements = gatherElements()
  for await (const chunk of chunks) {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      if (!isBetween(chunk[at] ?? '')) continue
      elements.add(chunk.slice(from, at))
      yield* elements.take()
      from = at + 1
    }
    elements.add(chunk.slice(from))
  }
  yield* elements.take()
}

/** JSON lines, or one JSON array: told apart by the first character, read as they come. */
export async function* readRecords(chunks: AsyncIterable<string>): AsyncGenerator<RawRecord> {
  const iterator = chunks[Symbol.asyncIterator]()
  let head = ''
  let ended = false
  while (isBlank(head) && !ended) {
    const { value, done } = await iterator.next()
    ended = done === true
    head += (value ?? '').replace(/^\uFEFF/, '')
  }
  async function* all(): AsyncGenerator<string> {
    yield head
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) return
      yield value
    }
  }
  yield* head.trimStart().startsWith('[') ? readElements(all()) : readLines(all())
}
