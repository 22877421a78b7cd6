async function* together(
  gathered: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield* gathered
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

export const readAhead = async (content: AsyncIterable<Uint8Array>, limit: number) => {
  const source = content[Symbol.asyncIterator]()
  const gathered: Uint8Array[] = []
  let size = 0
  let isWhole = false
  while (!isWhole && size <= limit) {
    const next = await source.next()
    isWhole = next.done === true
    if (next.done) break
    gathered.push(next.value)
    size += next.value.length
  }
  return { gathered, size, isWhole, content: together(gathered, source) }
}

/** The content up to its failure. The failure is kept and not thrown, so that the bytes before it count. */
export const untilFailure = (content: AsyncIterable<Uint8Array>) => {
  const received: { size: number; failure?: unknown } = { size: 0 }
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of content) {
        received.size += chunk.length
        yield chunk
      }
    } catch (error) {
      received.failure = error
    }
  }
  return { received, chunks: chunks() }
}
