/** Bytes in pieces of this size, or in one piece. With a failure, the body breaks off after them. */
export async function* inPieces(bytes: Uint8Array, size = bytes.length, failure?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  if (failure) throw failure
}
