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
