/** In bytes. */
export const pieceSize = 64 * 1024

const mostFree = 64
const free: ArrayBuffer[] = []
const lent = new WeakSet<ArrayBufferLike>()

/** Memory for bytes on their way to a reader (O-21). Pass the memory to `giveBack` when the bytes are sent. */
export const lendPiece = (): Buffer => {
  const memory = free.pop() ?? new ArrayBuffer(pieceSize, { maxByteLength: pieceSize })
  lent.add(memory)
  return Buffer.from(memory, 0, pieceSize)
}

/** The caller must not use the bytes afterwards. Ignores memory that is not from `lendPiece`. */
export const giveBack = ({ buffer }: Uint8Array): void => {
  if (!(buffer instanceof ArrayBuffer && lent.delete(buffer))) return
  if (free.length < mostFree) free.push(buffer)
  // Returns the memory to the system at once, because an idle process may never collect its garbage.
  else buffer.resize(0)
}
