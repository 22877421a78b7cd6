/** In characters. An event is much shorter, unless another server answers. */
const longestEvent = 1_000_000

interface StreamedEvent {
  readonly id: string | undefined
  /** Empty if the event has an id, but no data. */
  readonly data: string
}

const readBlock = (block: string): StreamedEvent => {
  const fields = block.split('\n').map((line) => /^(id|data): ?(.*)$/s.exec(line) ?? [])
  const textOf = (name: string) => fields.filter(([, field]) => field === name).map(([, , text = '']) => text)
  return { id: textOf('id').at(-1), data: textOf('data').join('\n') }
}

type Read = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>

/**
 * Yields the complete events of a `text/event-stream`, even those without data. `limit` limits the time of each read.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  limit: (read: Promise<Read>) => Promise<Read>,
): AsyncGenerator<StreamedEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    const next = () => limit(reader.read())
    for (let read = await next(); !read.done; read = await next()) {
      const blocks = (text + decoder.decode(read.value, { stream: true })).split('\n\n')
      text = blocks.pop() ?? ''
      if (text.length > longestEvent) throw new TypeError('An event is too long.')
      yield* blocks.map(readBlock)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
