/** One block of a stream of events: its id, its data, or only a comment. */
export interface StreamEvent {
  readonly id?: string
  // biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever the service sends
  readonly data?: any
  readonly comment?: true
}

const readBlock = (block: string): StreamEvent => {
  const lines = block.split('\n')
  const textOf = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const [id, data] = [textOf('id'), textOf('data')]
  return {
    ...(id !== undefined && { id }),
    ...(data !== undefined && { data: JSON.parse(data) }),
    ...(lines.includes(':') && { comment: true }),
  }
}

/** The events in the bytes of a stream. A block that was cut off is dropped, as browsers do. */
export async function* eventsIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    yield* blocks.map(readBlock)
  }
}
