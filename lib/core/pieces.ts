/** Bytes. */
export const pieceSize = 64 * 1024

const mostFree = 64
const free: ArrayBuffer[] = []
const lent = new WeakSet<ArrayBufferLike>()

/** Memory for bytes on their way to a reader (O-21). Return it with `giveBack` once the bytes are sent. */
export const lendPiece = (): Buffer => {
  const memory = free.pop() ?? new ArrayBuffer(pieceSize, { maxByteLength: pieceSize })
  lent.add(memory)
  return Buffer.from(memory, 0, pieceSize)
}

/** The bytes must not be used afterwards. Leaves other memory alone. */
export const giveBack = ({ buffer }: Uint8Array): void => {
  if (!(buffer instanceof ArrayBuffer && lent.delete(buffer))) return
  if (free.length < mostFree) free.push(buffer)
  // Returns it to the system at once: an idle process may never collect garbage.
  else buffer.resize(0)
}
