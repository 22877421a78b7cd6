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
