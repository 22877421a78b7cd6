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

/** The elements of a JSON array, cut out of the text without being understood: one that is no JSON spoils no other. */
async function* readElements(chunks: AsyncIterable<string>): AsyncGenerator<RawRecord> {
  const isBetween = followArray()
  let line = 1
  let begin: number | undefined
  let text = ''

  for await (const chunk of chunks) {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const character = chunk[at] ?? ''
      if (isBetween(character)) {
        if (begin !== undefined) yield { line: begin, text: text + chunk.slice(from, at) }
        begin = undefined
        text = ''
      } else if (begin === undefined && !isBlank(character)) {
        begin = line
        from = at
      }
      if (character === '\n') line += 1
    }
    if (begin !== undefined) text = (text + chunk.slice(from)).slice(0, longestRecord)
  }
  if (begin !== undefined) yield { line: begin, text }
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
