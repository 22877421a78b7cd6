import { hash } from 'node:crypto'

/** Bytes with their MD5. Objects share pieces, so a file of many gigabytes needs little memory. */
export interface Piece {
  readonly bytes: Buffer
  readonly digest: Buffer
}

export const md5 = (bytes: Buffer) => hash('md5', bytes, 'buffer')
export const pieceOf = (bytes: Buffer): Piece => {
  let digest: Buffer | undefined
  return {
    bytes,
    get digest() {
      digest ??= md5(bytes)
      return digest
    },
  }
}
export const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
/** The content as one piece, which is shared if possible. */
export const joined = (pieces: readonly Piece[]): Piece => {
  const [first] = pieces
  return first && pieces.length === 1 ? first : pieceOf(Buffer.concat(pieces.map(({ bytes }) => bytes)))
}
/** The pieces of a range. Whole pieces are not copied. */
export const cut = (pieces: readonly Piece[], first: number, last: number): Piece => {
  let start = 0
  const within = pieces.flatMap((piece) => {
    const { bytes } = piece
    const [from, to] = [Math.max(first - start, 0), Math.min(last + 1 - start, bytes.length)]
    start += bytes.length
    if (from >= to) return []
    return to - from === bytes.length ? piece : pieceOf(bytes.subarray(from, to))
  })
  return joined(within)
}
